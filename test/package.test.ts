import { readdirSync, readFileSync } from 'node:fs';
import { builtinModules } from 'node:module';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { describeUnless, unlessBuilt } from './needs.testing.ts';

const root = join(import.meta.dirname, '..');
const readJson = (name: string) => JSON.parse(readFileSync(join(root, name), 'utf8'));

interface LockedPackage {
  readonly dev?: boolean;
  readonly devOptional?: boolean;
  readonly engines?: { readonly node?: string };
}

test('packages that the bundle contains are development dependencies: users do not install them', () => {
  // The type declarations of the library refer to these two.
  expect(Object.keys(readJson('package.json').dependencies)).toEqual(['re2js', 'yaml']);
});

test('what is installed with the tarball runs on the lowest Node version that we name', () => {
  const { engines } = readJson('package.json');
  const packages = Object.entries(readJson('package-lock.json').packages as Record<string, LockedPackage>);
  const installed = packages.filter(
    ([path, { dev, devOptional }]) => path !== '' && dev !== true && devOptional !== true,
  );
  expect(installed.map(([path]) => path)).toEqual(['node_modules/re2js', 'node_modules/yaml']);
  const lowest = Number(/^>=(\d+)/.exec(engines.node)?.[1]);
  for (const [path, { engines }] of installed) {
    const needed = Number(/(\d+)/.exec(engines?.node ?? '0')?.[1]);
    expect(needed, path).toBeLessThanOrEqual(lowest);
  }
});

describeUnless(unlessBuilt('dist/index.js'))('the bundle', () => {
  test('imports no packages at run time', () => {
    const files = readdirSync(join(root, 'dist'), { recursive: true, encoding: 'utf8' }).filter((name) =>
      name.endsWith('.js'),
    );
    const imported = files.flatMap((name) => {
      const text = readFileSync(join(root, 'dist', name), 'utf8');
      return Array.from(
        text.matchAll(/^(?:import|export)\b[^;'"]*["']([^'"]+)["'];?$/gm),
        ([, from = '']) => from,
      );
    });
    const packages = new Set(imported.filter((from) => !from.startsWith('.') && !from.startsWith('node:')));
    expect([...packages].filter((name) => !builtinModules.includes(name))).toEqual([]);
  });
});
