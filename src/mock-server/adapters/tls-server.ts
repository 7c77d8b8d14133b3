import type { RequestListener, ServerOptions } from 'node:http';
import { createServer, type Server } from 'node:https';
import type { Socket } from 'node:net';
import { createSecureContext, type SecureContextOptions, type TLSSocket } from 'node:tls';
import { invalidOption, unknownName } from '../mock-server-error.ts';

/** The certificate of an https server, and its private key. */
export interface TlsOptions {
  /** The certificate as PEM, then the certificates of its issuers, if any. */
  readonly cert: string | Uint8Array;
  /** The private key of the certificate as PEM, without a passphrase. */
  readonly key: string | Uint8Array;
}

/** An https server that can reset and end connections as an http server does. */
export function createTlsServer(tls: TlsOptions, options: ServerOptions, listener: RequestListener): Server {
  const { cert, key } = checkedTls(tls);
  const server = createServer({ ...options, handshakeTimeout: options.headersTimeout, cert, key }, listener);
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

const EXPECTED = {
  cert: 'a certificate as PEM',
  key: 'the private key of the certificate as PEM, without a passphrase',
};

/** Throws `MockServerError` for a certificate or a key that cannot be used. A key is never shown. */
function checkedTls(tls: TlsOptions): { readonly cert: string; readonly key: string } {
  if (typeof tls !== 'object' || tls === null) throw invalidOption('tls', '…', '{ cert, key }, both as PEM');
  const known = Object.keys(EXPECTED);
  const unknown = Object.keys(tls).find((name) => !known.includes(name));
  if (unknown !== undefined) throw unknownName(unknown, { what: 'a field of tls', known }, 'tls.');
  const [cert, key] = [pemOf(tls, 'cert'), pemOf(tls, 'key')];
  checkField('cert', { cert });
  checkField('key', { cert, key });
  return { cert, key };
}

function pemOf(tls: TlsOptions, field: keyof TlsOptions): string {
  const given: unknown = tls[field];
  const pem = given instanceof Uint8Array ? Buffer.from(given).toString() : given;
  if (typeof pem === 'string' && pem !== '') return pem;
  const isAbsent = given === undefined || pem === '';
  throw invalidOption(`tls.${field}`, isAbsent ? pem : '…', EXPECTED[field]);
}

function checkField(field: keyof TlsOptions, given: SecureContextOptions): void {
  try {
    createSecureContext(given);
  } catch (error) {
    throw invalidOption(`tls.${field}`, '…', `${EXPECTED[field]} (${reasonOf(error)})`);
  }
}

/** The words of OpenSSL, such as `key values mismatch`. */
function reasonOf(error: unknown): unknown {
  return error instanceof Error && 'reason' in error ? error.reason : error;
}
