import type { RequestListener, ServerOptions } from 'node:http';
import { createServer, type Server } from 'node:https';
import type { Socket } from 'node:net';
import { createSecureContext, type TLSSocket } from 'node:tls';
import { invalidOption } from '../input/mock-server-error.ts';

/** The certificate of an https server, and its private key. */
export interface TlsOptions {
  /** The certificate as PEM, then the certificates of its issuers, if any. */
  readonly cert: string | Uint8Array;
  /** The private key of the certificate as PEM, without a passphrase. */
  readonly key: string | Uint8Array;
}

/** An https server that can reset and end connections as an http server does. */
export function createTlsServer(tls: TlsOptions, options: ServerOptions, listener: RequestListener): Server {
  const secure = { handshakeTimeout: options.headersTimeout, ...checkedTls(tls) };
  const server = createServer({ ...options, ...secure }, listener);
  // After a failed or late handshake, no response can be sent.
  server.prependListener('tlsClientError', (_, socket) => socket.destroy());
  const connections = new Map<string, Socket>();
  const nameOf = ({ remoteAddress, remotePort }: Socket) => `${remoteAddress} ${remotePort}`;
  server.on('connection', (connection: Socket) => {
    const name = nameOf(connection);
    connections.set(name, connection);
    connection.once('close', () => connections.delete(name));
  });
  server.on('secureConnection', (socket: TLSSocket) => {
    const connection = connections.get(nameOf(socket));
    // Only TCP sockets can be reset, so this resets the one below TLS.
    socket.resetAndDestroy = () => {
      connection?.resetAndDestroy();
      return socket;
    };
  });
  // node:https would leave connections open whose handshake is incomplete.
  server.closeAllConnections = () => {
    for (const connection of connections.values()) connection.destroy();
  };
  return server;
}

/** Throws `MockServerError` for a certificate and a key that cannot be used. Neither is shown. */
function checkedTls(tls: TlsOptions): Readonly<Record<keyof TlsOptions, Buffer>> {
  try {
    const pair = { cert: Buffer.from(tls.cert), key: Buffer.from(tls.key) };
    createSecureContext(pair);
    return pair;
  } catch (error) {
    // OpenSSL returns a reason such as `key values mismatch`; the error for a missing field has no reason.
    const reason = error instanceof Error && 'reason' in error ? ` (${error.reason})` : '';
    const expected = 'a certificate and its private key, both as PEM, the key without a passphrase';
    throw invalidOption('tls', '…', `{ cert, key }: ${expected}${reason}`);
  }
}
