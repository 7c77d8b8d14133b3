import { once } from 'node:events';
import { connect } from 'node:net';

/** Sends raw text to this machine, and returns everything received until the connection closes. */
export async function sendRaw({ port }: { readonly port: number }, text: string): Promise<string> {
  const socket = connect(port, '127.0.0.1').setEncoding('utf8');
  let response = '';
  socket.on('data', (chunk) => {
    response += chunk;
  });
  socket.on('error', () => undefined); // the server may close the connection before it has read everything
  socket.write(text);
  await once(socket, 'close');
  return response;
}
