import { BlockList, isIP } from 'node:net';

type Environment = Readonly<Record<string, string | undefined>>;

/**
 * The proxy that `HTTPS_PROXY`, `HTTP_PROXY` and `NO_PROXY` select for a server, as Go's `http.ProxyFromEnvironment` does. A
 * `proxy-url` in the kubeconfig takes precedence.
 */
export function proxyFromEnvironment(server: string, env: Environment): string | undefined {
  if (!URL.canParse(server)) return undefined;
  const url = new URL(server);
  const isSecure = url.protocol === 'https:';
  const proxy = isSecure
    ? (env['HTTPS_PROXY'] ?? env['https_proxy'])
    : (env['HTTP_PROXY'] ?? env['http_proxy']);
  if (proxy === undefined || proxy === '') return undefined;
  const host = url.hostname.replace(/^\[|\]$/g, '').toLowerCase();
  const port = url.port || (isSecure ? '443' : '80');
  if (isLocal(host) || isExcluded(host, port, env['NO_PROXY'] ?? env['no_proxy'] ?? '')) return undefined;
  return proxy.includes('://') ? proxy : `http://${proxy}`;
}

function isLocal(host: string): boolean {
  return host === 'localhost' || host === '::1' || /^127(?:\.\d+){3}$/.test(host);
}

function isExcluded(host: string, port: string, list: string): boolean {
  return list
    .split(',')
    .map((entry) => entry.trim().toLowerCase())
    .filter((entry) => entry !== '')
    .some((entry) => entry === '*' || matches(entry, host, port));
}

/** An address, a range of addresses, or a domain, which includes its subdomains; a leading dot or `*.` excludes the domain itself. */
function matches(entry: string, host: string, port: string): boolean {
  const [, range, bits] = /^([0-9a-f.:]+)\/(\d{1,3})$/.exec(entry) ?? [];
  if (range !== undefined && isIP(range) !== 0) return isInRange(host, range, Number(bits));
  const [, bracketed, bracketedPort] = /^\[([0-9a-f:.]+)\](?::(\d+))?$/.exec(entry) ?? [];
  const [, plain = entry, plainPort] = isIP(entry) === 6 ? [] : (/^(.*?)(?::(\d+))?$/.exec(entry) ?? []);
  const wantedPort = bracketed === undefined ? plainPort : bracketedPort;
  if (wantedPort !== undefined && wantedPort !== port) return false;
  const name = bracketed ?? plain;
  if (isIP(name) !== 0) return name === host;
  if (isIP(host) !== 0) return false;
  const domain = name.replace(/^\*?\./, '');
  return host.endsWith(`.${domain}`) || (domain === name && host === name);
}

function isInRange(host: string, range: string, bits: number): boolean {
  const family = isIP(host) === 4 ? 'ipv4' : 'ipv6';
  if (isIP(host) === 0 || isIP(host) !== isIP(range) || bits > (family === 'ipv4' ? 32 : 128)) return false;
  const list = new BlockList();
  list.addSubnet(range, bits, family);
  return list.check(host, family);
}
