import type { IncomingMessage } from 'node:http';
import { type RequestOptions, request } from 'node:https';
import { inputError } from '../../problem.ts';

export interface RemoteLimits {
  readonly bytes: number;
  /** For the whole transfer, redirects included. */
  readonly milliseconds: number;
  readonly redirects: number;
  /** Trusted instead of the CAs of Node.js. */
  readonly ca?: string | undefined;
}

const defaultLimits: RemoteLimits = { bytes: 16 * 1024 * 1024, milliseconds: 30_000, redirects: 5 };

/** Whether an input is an address. Addresses other than https are refused when they are read. */
export function isRemote(name: string): boolean {
  return /^https?:\/\//i.test(name);
}

/** The address without its query and credentials, which may be secrets. */
export function remoteName(address: string): string {
  const url = URL.canParse(address) ? new URL(address) : undefined;
  return url === undefined ? address : `${url.origin}${url.pathname}`;
}

/** Reads a file over https. The certificate of each server is verified. Throws InputError. */
export async function* readRemote(
  address: string,
  isOffline: boolean,
  limits: RemoteLimits = defaultLimits,
): AsyncGenerator<Uint8Array> {
  if (isOffline) {
    throw failure(address, '--offline forbids reading addresses', 'download the file, and name it instead');
  }
  const signal = AbortSignal.timeout(limits.milliseconds);
  try {
    const response = await follow(address, limits, signal);
    let size = 0;
    for await (const chunk of response as AsyncIterable<Uint8Array>) {
      size += chunk.length;
      if (size > limits.bytes) {
        throw failure(
          address,
          `the file is larger than ${limits.bytes} bytes`,
          'download it, and name the file',
        );
      }
      yield chunk;
    }
  } catch (error) {
    if (signal.aborted)
      throw failure(address, `there was no complete answer in ${limits.milliseconds / 1000} s`);
    throw error;
  }
}

async function follow(address: string, limits: RemoteLimits, signal: AbortSignal): Promise<IncomingMessage> {
  let url = checked(address, address);
  for (let count = 0; ; count++) {
    const response = await get(url, address, { signal, ca: limits.ca });
    const { statusCode = 0, statusMessage = '', headers } = response;
    if (statusCode >= 300 && statusCode < 400 && headers.location !== undefined) {
      response.destroy();
      if (count === limits.redirects)
        throw failure(address, `there are more than ${limits.redirects} redirects`);
      url = checked(new URL(headers.location, url).href, address);
      continue;
    }
    if (statusCode !== 200) {
      response.destroy();
      throw failure(address, `the server answered ${statusCode} ${statusMessage}`.trimEnd());
    }
    if (/^text\/html\b/i.test(headers['content-type'] ?? '')) {
      response.destroy();
      throw failure(
        address,
        'the address is a web page, not a file',
        'use the address of the raw file; clone a repository with git, and name the folder',
      );
    }
    return response;
  }
}

function checked(address: string, first: string): URL {
  const url = URL.canParse(address) ? new URL(address) : undefined;
  if (url === undefined) throw failure(first, 'the address is not valid');
  if (url.protocol !== 'https:') {
    const reason =
      address === first
        ? 'only https addresses are read'
        : 'the server redirects to an address without https';
    throw failure(first, reason);
  }
  if (url.username !== '' || url.password !== '') {
    throw failure(first, 'an address with a user name or password is not read');
  }
  return url;
}

function get(url: URL, address: string, options: RequestOptions): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    const headers = { accept: '*/*', 'accept-encoding': 'identity', 'user-agent': 'kymera' };
    const sent = request(url, { ...options, headers, agent: false }, resolve);
    sent.on('error', (error: NodeJS.ErrnoException) => reject(connectionFailure(address, error)));
    sent.end();
  });
}

function connectionFailure(address: string, error: NodeJS.ErrnoException) {
  const isUntrusted = /CERT|SELF_SIGNED|UNABLE_TO_VERIFY|ALTNAME/.test(error.code ?? '');
  if (!isUntrusted) return failure(address, `the file cannot be read: ${error.message}`);
  const hint = 'set NODE_EXTRA_CA_CERTS to the file of the CA that signed it';
  return failure(address, `the certificate of the server is not trusted: ${error.message}`, hint);
}

function failure(address: string, message: string, hint?: string) {
  return inputError('KYM_INPUT_UNREADABLE', message, { file: remoteName(address), hint });
}
