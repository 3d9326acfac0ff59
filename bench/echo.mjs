// The least that a webhook can do: plain node:https, parse, answer with a fixed patch. What a server is measured against.
import { readFileSync } from 'node:fs';
import { createServer } from 'node:https';

const [certFile, keyFile] = process.argv.slice(2);
const patch = Buffer.from('[{"op":"add","path":"/metadata/labels/echo","value":"true"}]').toString('base64');

const server = createServer(
  { cert: readFileSync(certFile), key: readFileSync(keyFile) },
  (request, response) => {
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
  },
);
server.keepAliveTimeout = 60_000;
server.listen(0, '127.0.0.1', () => console.log(`port ${server.address().port}`));
process.on('SIGTERM', () => process.exit(0));
