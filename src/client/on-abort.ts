type Callback = () => void;

const callbacksOf = new WeakMap<AbortSignal, Set<Callback>>();

/**
 * Calls back once when `signal` aborts. Returns what takes that back. All that wait for one signal share one listener:
 * a signal for a hundred calls is common, and Node warns of a leak from eleven listeners on.
 */
export function onAbort(signal: AbortSignal, callback: Callback): () => void {
  const callbacks = callbacksOf.get(signal) ?? listenTo(signal);
  callbacks.add(callback);
  return () => {
    if (callbacks.delete(callback) && callbacks.size === 0) forget(signal);
  };
}

const tellAll = ({ target }: Event) => {
  const signal = target as AbortSignal; // nothing else is listened to
  const callbacks = callbacksOf.get(signal) ?? [];
  forget(signal);
  for (const callback of callbacks) callback();
};

function listenTo(signal: AbortSignal): Set<Callback> {
  const callbacks = new Set<Callback>();
  callbacksOf.set(signal, callbacks);
  signal.addEventListener('abort', tellAll);
  return callbacks;
}

function forget(signal: AbortSignal): void {
  callbacksOf.delete(signal);
  signal.removeEventListener('abort', tellAll);
}
