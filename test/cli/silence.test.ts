import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { loadPolicyFiles } from '../../src/cli/serve/policy-files.ts';
import type { Log } from '../../src/server/log.ts';
import { kymera } from './in-process.testing.ts';

/** Mistakes that would go unnoticed without a message. */

const pod = `apiVersion: v1
kind: Pod
metadata: {name: web}
spec:
  containers:
  - {name: app, image: "nginx:1.27"}
`;

const check = `apiVersion: kyverno.io/v1
kind: ClusterPolicy
metadata: {name: require-team}
spec:
  rules:
  - name: check-team
    match: {any: [{resources: {kinds: [Pod]}}]}
    validate:
      message: team is required
      pattern: {metadata: {labels: {team: "?*"}}}
`;

describe('rules that are not run', () => {
  const files = {
    'p.yaml': check,
    'pod.yaml': pod,
    'kyverno-test.yaml':
      'apiVersion: cli.kyverno.io/v1alpha1\nkind: Test\nmetadata: {name: t}\npolicies: [p.yaml]\nresources: [pod.yaml]\nresults:\n- {policy: require-team, rule: check-team, resources: [web], kind: Pod, result: fail}\n',
  };
  const warning =
    'no rule of this policy is run here: check-team (validate); keep Kyverno or a ValidatingAdmissionPolicy for it';

  it.each([
    ['validate', ['validate', 'p.yaml']],
    ['apply', ['apply', 'p.yaml', '-r', 'pod.yaml']],
    ['explain', ['explain', 'p.yaml', '-r', 'pod.yaml']],
    ['test', ['test', '.']],
  ])('%s warns once', async (_, argv) => {
    const { exitCode, stdout, stderr } = await kymera(argv, { files });
    expect((stdout + stderr).split(warning)).toHaveLength(2);
    expect(exitCode).toBe(0);
  });

  it('serve writes the warning to its log', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'kymera-silence-'));
    writeFileSync(join(folder, 'p.yaml'), check);
    const warnings: unknown[] = [];
    const log: Log = {
      warn: (fields) => warnings.push(fields),
      error: () => {},
      info: () => {},
      isLevelEnabled: () => true,
    };
    const io = { cwd: folder, stdin: none(), env: {}, stdout: silent, stderr: silent };
    await loadPolicyFiles(['p.yaml'], new Map(), { io, log });
    expect(warnings).toEqual([{ problem: expect.stringContaining(warning) }]);
  });
});

const silent = { isTTY: false, write: () => undefined };

async function* none(): AsyncGenerator<string> {}
