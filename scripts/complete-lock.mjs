// Run after `npm install` where the registry does not carry the packages of other platforms: npm leaves those out of the lock file,
// and `npm ci` then refuses it. Writes them back in, by name and version; they are never fetched on this platform.
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { root } from './setup.mjs';

const systems = [
  'aix',
  'android',
  'darwin',
  'freebsd',
  'linux',
  'netbsd',
  'openbsd',
  'openharmony',
  'sunos',
  'win32',
];
const processors = [
  'wasm32',
  'arm64',
  'x64',
  'ia32',
  'loong64',
  'mips64el',
  'ppc64',
  'riscv64',
  's390x',
  'arm',
];

const file = join(root, 'package-lock.json');
const lock = JSON.parse(readFileSync(file, 'utf8'));
for (const [path, entry] of Object.entries(lock.packages)) {
  for (const [name, version] of Object.entries(entry.optionalDependencies ?? {})) {
    const present = lock.packages[`node_modules/${name}`] ?? lock.packages[`${path}/node_modules/${name}`];
    if (present !== undefined) continue;
    lock.packages[`node_modules/${name}`] = platformEntry(name, version, entry.dev === true);
    console.log(`added ${name}@${version}`);
  }
}
lock.packages = Object.fromEntries(Object.entries(lock.packages).sort(([a], [b]) => (a < b ? -1 : 1)));
writeFileSync(file, `${JSON.stringify(lock, null, 2)}\n`);

function platformEntry(name, version, dev) {
  const words = (name.split('/').at(-1) ?? '').split('-');
  const os = systems.find((system) => words.includes(system));
  const cpu = processors.find((processor) => words.includes(processor));
  return {
    version,
    ...(cpu === undefined ? {} : { cpu: [cpu] }),
    ...(dev ? { dev } : {}),
    ...libcOf(words, os),
    optional: true,
    ...(os === undefined ? {} : { os: [os] }),
  };
}

function libcOf(words, os) {
  if (os !== 'linux') return {};
  return { libc: [words.some((word) => word.startsWith('musl')) ? 'musl' : 'glibc'] };
}
