import { get } from 'node:https';

/** The response of a server at a path. */
export function servedText(host: string, port: number, path: string): Promise<string> {
  return new Promise((resolve, reject) => {
    get({ host, port, path, rejectUnauthorized: false, agent: false }, (response) => {
      let text = '';
      response.setEncoding('utf8').on('data', (part: string) => {
        text += part;
      });
      response.on('end', () => resolve(text));
    }).on('error', reject);
  });
}
