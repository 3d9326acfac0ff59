// Floods a server from a process of its own: node flood.testing.mjs PORT CA-FILE
import { readFileSync } from 'node:fs';
import { connect } from 'node:tls';

const [port, caFile] = process.argv.slice(2);
const ca = readFileSync(caFile);
const size = 8 * 1024 * 1024;
const reconnectMilliseconds = 500;

const manyObjects = Buffer.from(`[${'{"a":1},'.repeat(size / 8 - 2)}1]`);
const fewerObjects = Buffer.from(`[${'[],'.repeat(320_000)}1]`.padEnd(size));
const floods = [
  { name: 'stalled before the last byte', count: 60, length: size, body: Buffer.alloc(size - 1, ' ') },
  { name: 'stalled after the first byte', count: 100, length: size, body: Buffer.from('{') },
  { name: 'nested', count: 4, length: size, body: Buffer.alloc(size, '[') },
  { name: 'too many values', count: 4, length: manyObjects.length, body: manyObjects },
  { name: 'many values', count: 4, length: fewerObjects.length, body: fewerObjects },
];

for (const { count, length, body } of floods) {
  for (let index = 0; index < count; index += 1) send(length, body);
}

/** Sends the body, and again whenever the connection is closed. */
function send(length, body) {
  const socket = connect({ port: Number(port), host: '127.0.0.1', ca }, () => {
    const head = `host: a\r\ncontent-type: application/json\r\ncontent-length: ${length}`;
    socket.write(`POST /mutate HTTP/1.1\r\n${head}\r\n\r\n`);
    socket.write(body);
  });
  socket.on('error', () => undefined);
  socket.on('close', () => setTimeout(() => send(length, body), reconnectMilliseconds));
  // An answer frees the connection for the next body.
  socket.on('data', () => socket.destroy());
}
