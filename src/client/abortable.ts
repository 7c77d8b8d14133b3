/** `work`, but rejects with the signal's reason as soon as it aborts, also when `work` does not listen to it. */
export function abortable<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    const stop = () => reject(signal.reason);
    if (signal.aborted) stop();
    else signal.addEventListener('abort', stop, { once: true });
    const cleanUp = () => signal.removeEventListener('abort', stop);
    work.finally(cleanUp).then(resolve, reject);
  });
}
