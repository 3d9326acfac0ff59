import { describe, expect, it } from 'vitest';
import { proxyFromEnvironment } from './proxy.ts';

const proxy = 'http://proxy.example:3128';

describe('the proxy of the environment', () => {
  it.each<[string, string, Record<string, string>, string | undefined]>([
    ['none', 'https://10.0.0.1:6443', {}, undefined],
    ['for https', 'https://10.0.0.1:6443', { HTTPS_PROXY: proxy }, proxy],
    ['in lower case', 'https://10.0.0.1:6443', { https_proxy: proxy }, proxy],
    ['for http only', 'https://10.0.0.1:6443', { HTTP_PROXY: proxy }, undefined],
    ['for http', 'http://10.0.0.1:8080', { HTTP_PROXY: proxy }, proxy],
    ['without a scheme', 'https://api.example', { HTTPS_PROXY: 'proxy.example:3128' }, proxy],
    ['that is empty', 'https://api.example', { HTTPS_PROXY: '' }, undefined],
    ['never for localhost', 'https://localhost:6443', { HTTPS_PROXY: proxy }, undefined],
    ['never for loopback', 'https://127.0.0.1:6443', { HTTPS_PROXY: proxy }, undefined],
    ['never for loopback in IPv6', 'https://[::1]:6443', { HTTPS_PROXY: proxy }, undefined],
    ['for an invalid server', 'not a url', { HTTPS_PROXY: proxy }, undefined],
  ])('%s', (_, server, env, expected) => {
    expect(proxyFromEnvironment(server, env)).toBe(expected);
  });

  it.each<[string, string, boolean]>([
    ['*', 'https://api.example', true],
    ['api.example', 'https://api.example', true],
    ['example', 'https://api.example', true],
    ['ample', 'https://api.example', false],
    ['.example', 'https://api.example', true],
    ['.api.example', 'https://api.example', false],
    ['*.example', 'https://api.example', true],
    ['other, API.example ', 'https://api.example', true],
    ['api.example:6443', 'https://api.example:6443', true],
    ['api.example:443', 'https://api.example:6443', false],
    ['api.example:443', 'https://api.example', true],
    ['10.0.0.1', 'https://10.0.0.1:6443', true],
    ['10.0.0.1:6443', 'https://10.0.0.1:6443', true],
    ['10.0.0.0/8', 'https://10.0.0.1:6443', true],
    ['10.0.0.0/8', 'https://11.0.0.1:6443', false],
    ['10.0.0.0/99', 'https://10.0.0.1:6443', false],
    ['fd00::/8', 'https://[fd00::1]:6443', true],
    ['fd00::1', 'https://[fd00::1]:6443', true],
    ['[fd00::1]:6443', 'https://[fd00::1]:6443', true],
    ['10.0.0.0/8', 'https://[fd00::1]:6443', false],
  ])('NO_PROXY=%s for %s: %s', (list, server, isExcluded) => {
    const found = proxyFromEnvironment(server, { HTTPS_PROXY: proxy, NO_PROXY: list });
    expect(found).toBe(isExcluded ? undefined : proxy);
  });
});
