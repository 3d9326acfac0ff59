// An HTTP CONNECT proxy on a free loopback port. It connects each tunnel to `host:port` of its argument, whatever the
// client asks for, and prints its own port and the requested targets, one JSON value per line.
import { createServer } from 'node:http';
import { connect } from 'node:net';

const [host, port] = (process.argv[2] ?? '').split(':');
const print = (value) => process.stdout.write(`${JSON.stringify(value)}\n`);

const server = createServer((_, response) => response.writeHead(405).end());
server.on('connect', (request, client, head) => {
  print({ target: request.url });
  const upstream = connect(Number(port), host, () => {
    client.write('HTTP/1.1 200 Connection Established\r\n\r\n');
    upstream.write(head);
    client.pipe(upstream).pipe(client);
  });
  for (const [one, other] of [
    [client, upstream],
    [upstream, client],
  ]) {
    one.on('error', () => other.destroy());
    one.on('close', () => other.destroy());
  }
});
server.listen(0, '127.0.0.1', () => print({ port: server.address().port }));
