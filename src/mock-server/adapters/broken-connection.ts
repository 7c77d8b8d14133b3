import type { Delivery } from '../http/mock-message.ts';

/** How a connection ends before its time, as undici tells it, and with it every fetch of Node. */
export function brokenConnection(ending: Delivery['ending']): Error {
  if (ending === 'reset') return Object.assign(new Error('read ECONNRESET'), { code: 'ECONNRESET', syscall: 'read' });
  return Object.assign(new Error('other side closed'), { name: 'SocketError', code: 'UND_ERR_SOCKET' });
}

/** What fetch throws when there is no answer. */
export function brokenFetch(ending: Delivery['ending']): TypeError {
  return new TypeError('fetch failed', { cause: brokenConnection(ending) });
}

/** What reading a body throws when it breaks off. */
export function brokenBody(ending: Delivery['ending']): TypeError {
  return new TypeError('terminated', { cause: brokenConnection(ending) });
}
