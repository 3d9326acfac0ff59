import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';

interface Step {
  readonly uses?: string;
  readonly run?: string;
}

interface Workflow {
  readonly permissions?: Readonly<Record<string, string>>;
  readonly jobs: Readonly<
    Record<string, { readonly 'timeout-minutes'?: number; readonly steps: readonly Step[] }>
  >;
}

const folder = '.github/workflows';
const { scripts } = JSON.parse(readFileSync('package.json', 'utf8'));

describe.each(readdirSync(folder))('the workflow %s', (file) => {
  const text = readFileSync(`${folder}/${file}`, 'utf8');
  const { permissions, jobs } = parse(text) as Workflow;
  const steps = Object.values(jobs).flatMap((job) => job.steps);

  it('runs scripts that exist', () => {
    const lines = steps.flatMap(({ run = '' }) => run.split('\n'));
    const named = lines.flatMap((line) =>
      [...line.matchAll(/\bnpm run ([\w:]+)/g)].map(([, name = '']) => name),
    );
    expect(named.filter((name) => !(name in scripts))).toEqual([]);
    const files = lines.flatMap((line) =>
      [...line.matchAll(/\bnode (\S+\.mjs)/g)].map(([, path = '']) => path),
    );
    expect(files.filter((path) => !existsSync(path))).toEqual([]);
  });

  it('uses actions by version or digest', () => {
    const used = steps.flatMap(({ uses }) => uses ?? []);
    expect(used.filter((action) => !/^[\w-]+\/[\w-]+@(v\d+|[0-9a-f]{40}$)/.test(action))).toEqual([]);
  });

  it('has read access only, unless a job requests more, and a timeout', () => {
    expect(permissions).toEqual({ contents: 'read' });
    for (const job of Object.values(jobs)) expect(job['timeout-minutes']).toBeGreaterThan(0);
  });

  it('interpolates no expression into a script', () => {
    const scriptsWithValues = steps.flatMap(({ run }) => run?.match(/\$\{\{[^}]*\}\}/g) ?? []);
    expect(scriptsWithValues).toEqual([]);
  });
});

describe('Renovate', () => {
  const { extends: presets } = JSON.parse(readFileSync('renovate.json', 'utf8'));

  it('pins actions and base images by digest', () => {
    expect(presets).toEqual(expect.arrayContaining(['helpers:pinGitHubActionDigests', 'docker:pinDigests']));
  });

  it('can pin the base image: FROM has no variable', () => {
    const bases = [...readFileSync('Dockerfile', 'utf8').matchAll(/^FROM (\S+)/gm)].map(([, base]) => base);
    expect(bases).toHaveLength(2);
    for (const base of bases) expect(base).toMatch(/^node:\d+-slim(@sha256:[0-9a-f]{64})?$/);
  });
});
