import { existsSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { configMap, failureOf, objectsOf, yaml } from './build-fixture.ts';

const config = yaml({ apiVersion: 'team.example.com/v1', kind: 'App', metadata: { name: 'app' } });

/** The same program as a plugin of each layout, and as a function. */
const layouts: readonly (readonly [string, string, string])[] = [
  ['one program for a kind', 'home/.config/kustomize/plugin/team.example.com/v1/app/App', config],
  ['one program for a group', 'home/.config/kustomize/plugins/team.example.com', config],
  [
    'a function',
    'fn.sh',
    yaml({
      apiVersion: 'team.example.com/v1',
      kind: 'App',
      metadata: { name: 'app', annotations: { 'config.kubernetes.io/function': 'exec: {path: ./fn.sh}' } },
    }),
  ],
];

describe.each(layouts)('%s', (_layout, path, settings) => {
  const generator = (program: string, flags: readonly string[] = []) => ({
    files: {
      'kustomization.yaml': 'generators: [app.yaml]',
      'app.yaml': settings,
      [path]: `#!/bin/sh\n${program}\n`,
    },
    flags: ['--enable-plugins', ...flags],
  });

  it('that hangs is ended, with all it started', async () => {
    const mark = `/tmp/kymera-hang-${process.pid}-${Math.random()}`;
    // Longer than the test may take.
    const program = `(sleep 3; touch ${mark}) &\nsleep 600`;
    const message = await failureOf(generator(program, ['--plugin-timeout', '0.5']));
    expect(message).toMatch(/took longer than 0.5 s.*KYM_PLUGIN_FAILED/s);
    await sleep(3500);
    expect(existsSync(mark)).toBe(false);
  });

  it('that prints garbage is reported', async () => {
    expect(await failureOf(generator('echo "{[ no yaml"'))).toMatch(
      /printed an invalid resource.*KYM_PLUGIN_OUTPUT/s,
    );
    expect(await failureOf(generator('echo "a: 1"'))).toContain('KYM_PLUGIN_OUTPUT');
  });

  it('that prints 100 MB is ended', async () => {
    const message = await failureOf(generator('head -c 100000000 /dev/zero | tr "\\0" x'));
    expect(message).toMatch(/printed more than 32 MiB.*KYM_PLUGIN_OUTPUT/s);
  });

  it('that leaves a process behind does not hold up the build', async () => {
    const started = performance.now();
    const program = `[ "$1" = transform ] && exit 127\nsleep 120 &\necho '{apiVersion: v1, kind: ConfigMap, metadata: {name: made}}'`;
    expect(await objectsOf(generator(program))).toEqual([configMap('made')]);
    expect(performance.now() - started).toBeLessThan(100_000);
  });

  it('that does not read its input is fine', async () => {
    const program = `exec 0<&-\n[ "$1" = transform ] && exit 127\necho '{apiVersion: v1, kind: ConfigMap, metadata: {name: made}}'`;
    expect(await objectsOf(generator(program))).toEqual([configMap('made')]);
  });

  it('that is killed is reported', async () => {
    expect(await failureOf(generator('kill -9 $$'))).toMatch(/SIGKILL.*KYM_PLUGIN_FAILED/s);
  });
});
