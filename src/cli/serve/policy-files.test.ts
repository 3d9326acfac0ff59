import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { defaultPolicyLimits } from '../../policy/policy-limits.ts';
import type { Log } from '../../server/log.ts';
import { type LoadedFiles, loadPolicyFiles } from './policy-files.ts';

const policy = `apiVersion: admissionregistration.k8s.io/v1
kind: MutatingAdmissionPolicy
metadata: {name: label}
spec:
  reinvocationPolicy: Never
  matchConstraints:
    resourceRules:
    - {apiGroups: [""], apiVersions: [v1], operations: [CREATE], resources: [configmaps]}
  mutations:
  - patchType: ApplyConfiguration
    applyConfiguration: {expression: 'Object{metadata: Object.metadata{labels: {"a": "b"}}}'}
`;
const binding = (name: string) => `apiVersion: admissionregistration.k8s.io/v1
kind: MutatingAdmissionPolicyBinding
metadata: {name: ${name}}
spec: {policyName: label}
`;

describe('a MutatingAdmissionPolicy and its bindings in different files', () => {
  it('are joined, also when only the file with the binding changes', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'policy-files-'));
    const warnings: object[] = [];
    const log: Log = {
      warn: (details) => void warnings.push(details),
      error: (details) => void warnings.push(details),
      info: () => {},
      infoText: () => undefined,
      isLevelEnabled: () => true,
    };
    const silent = { isTTY: false, write: () => {} };
    const io = { cwd: folder, stdin: (async function* () {})(), env: {}, stdout: silent, stderr: silent };
    const load = (before: LoadedFiles) =>
      loadPolicyFiles([folder], before, { io, limits: defaultPolicyLimits, log });
    const rulesOf = (files: LoadedFiles) =>
      [...files.values()].flatMap(({ policies }) =>
        policies.flatMap(({ rules }) => rules.map(({ name }) => name)),
      );
    writeFileSync(join(folder, 'policy.yaml'), policy);
    writeFileSync(join(folder, 'binding.yaml'), binding('first'));
    const first = await load(new Map());
    expect(rulesOf(first)).toEqual(['first']);
    expect(warnings).toEqual([]);
    writeFileSync(join(folder, 'binding.yaml'), `${binding('first')}---\n${binding('second')}`);
    const second = await load(first);
    expect(rulesOf(second)).toEqual(['first', 'second']);
    const unchanged = await load(second);
    const [before, after] = [second, unchanged].map((files) =>
      [...files.values()].map(({ policies }) => policies),
    );
    // Nothing is compiled again.
    expect(after?.every((policies, index) => policies === before?.[index])).toBe(true);
  });
});
