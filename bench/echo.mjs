// The least that a webhook can do: plain node:https, parse, answer with a fixed patch. What a server is measured against.
// With a third argument, so many processes share the port.
import cluster from 'node:cluster';
import { readFileSync } from 'node:fs';
import { createServer } from 'node:https';

const [certFile, keyFile, workers = '1'] = process.argv.slice(2);
const patch = Buffer.from('[{"op":"add","path":"/metadata/labels/echo","value":"true"}]').toString('base64');

if (cluster.isPrimary && workers !== '1') startWorkers(Number(workers));
else startServer();
process.on('SIGTERM', () => process.exit(0));

function startWorkers(count) {
  let listening = 0;
  cluster.on('listening', (_worker, { port }) => {
    listening += 1;
    if (listening === count) console.log(`port ${port}`);
  });
  for (let index = 0; index < count; index += 1) cluster.fork();
}

function startServer() {
  const certificate = { cert: readFileSync(certFile), key: readFileSync(keyFile) };
  const server = createServer(certificate, (request, response) => {
    const chunks = [];
    request.on('data', (chunk) => chunks.push(chunk));
    request.on('end', () => {
      const review = JSON.parse(Buffer.concat(chunks).toString());
      const answer = JSON.stringify({
        apiVersion: review.apiVersion,
        kind: review.kind,
        response: { uid: review.request.uid, allowed: true, patchType: 'JSONPatch', patch },
      });
      response.writeHead(200, {
        'content-type': 'application/json',
        'content-length': Buffer.byteLength(answer),
      });
      response.end(answer);
    });
  });
  server.keepAliveTimeout = 60_000;
  // Workers that listen on port 0 get the same port. The primary process prints it when all of them listen.
  server.listen(0, '127.0.0.1', () => {
    if (cluster.isPrimary) console.log(`port ${server.address().port}`);
  });
}
