/** A bare node:http server in a process of its own, which answers everything with one body. */
import { createServer } from 'node:http';

process.once('message', ({ body, headers }) => {
  const server = createServer((_, outgoing) => outgoing.writeHead(200, headers).end(body));
  server.listen(0, '127.0.0.1', () => process.send({ url: `http://127.0.0.1:${server.address().port}` }));
});
process.once('disconnect', () => process.exit());
process.send('ready');
