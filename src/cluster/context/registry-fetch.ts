import { readText } from '../../json/read-field.ts';
import { isObject, type Json } from '../../json/value.ts';

export interface RegistryLogin {
  readonly username: string;
  readonly password: string;
}

export interface RegistryFetchOptions {
  /** `https://host/v2/repository`. */
  readonly base: string;
  readonly login: RegistryLogin | undefined;
  /** The limit for all requests together. */
  readonly timeoutMs: number;
  readonly maxBytes: number;
}

export interface RegistryAnswer {
  readonly body: string;
  readonly digest: string | undefined;
}

/** Reads from a repository. Authenticates if the registry requires it, with a token if the registry offers one. */
export function registryFetch(options: RegistryFetchOptions) {
  const deadline = AbortSignal.timeout(Math.ceil(options.timeoutMs));
  let authorization = '';

  async function attempt(path: string, accept: readonly string[]): Promise<Response> {
    // Redirects are followed, since blobs are often stored elsewhere. fetch drops the header when the host changes.
    return fetch(`${options.base}${path}`, {
      signal: deadline,
      headers: { accept: accept.join(','), ...(authorization === '' ? {} : { authorization }) },
    });
  }

  async function signIn(challenge: string): Promise<void> {
    const { login } = options;
    const basic = login && `Basic ${Buffer.from(`${login.username}:${login.password}`).toString('base64')}`;
    if (!/^bearer /i.test(challenge)) {
      if (basic === undefined) throw new Error('it requires credentials');
      authorization = basic;
      return;
    }
    const parts = new Map(
      [...challenge.matchAll(/(\w+)="([^"]*)"/g)].map(([, key = '', value = '']) => [key, value]),
    );
    const url = new URL(parts.get('realm') ?? '');
    if (url.protocol !== new URL(options.base).protocol)
      throw new Error('its token server uses another protocol');
    for (const key of ['service', 'scope']) {
      const value = parts.get(key);
      if (value !== undefined) url.searchParams.set(key, value);
    }
    const response = await fetch(url, {
      signal: deadline,
      ...(basic ? { headers: { authorization: basic } } : {}),
    });
    const answer = JSON.parse(await textOf(response, options.maxBytes)) as Json;
    const token = isObject(answer)
      ? (readText(answer, 'token') ?? readText(answer, 'access_token'))
      : undefined;
    if (!response.ok || token === undefined) throw new Error(`the token server answered ${response.status}`);
    authorization = `Bearer ${token}`;
  }

  return async (path: string, accept: readonly string[]): Promise<RegistryAnswer> => {
    let response = await attempt(path, accept);
    const challenge = response.headers.get('www-authenticate');
    if (response.status === 401 && challenge !== null && authorization === '') {
      await response.body?.cancel();
      await signIn(challenge);
      response = await attempt(path, accept);
    }
    const body = await textOf(response, options.maxBytes);
    if (!response.ok) throw new Error(`it answered ${response.status}`);
    return { body, digest: response.headers.get('docker-content-digest') ?? undefined };
  };
}

async function textOf(response: Response, maxBytes: number): Promise<string> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of response.body ?? []) {
    size += chunk.length;
    if (size > maxBytes) throw new Error(`the response is larger than ${maxBytes} bytes`);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString('utf8');
}
