import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { parse } from 'yaml';
import { loadDocuments } from '../../src/policy/load.ts';
import { corpusFolder, describeUnless, noCorpus } from '../needs.testing.ts';

const root = join(corpusFolder, 'kyverno');

interface Step {
  readonly expectError?: boolean;
  readonly files?: readonly string[];
}

/** Policies that their case expects the API server to refuse. */
function refusedIn(folder: string): ReadonlySet<string> {
  const { steps = [] } = parse(readFileSync(join(folder, 'case.yaml'), 'utf8')) as {
    steps?: readonly Step[];
  };
  return new Set(steps.filter(({ expectError }) => expectError === true).flatMap(({ files }) => files ?? []));
}

/** These are refused for want of rights in the cluster, which nothing in the document shows. */
const refusedByCluster = /auth-check/;

const files = existsSync(root)
  ? readdirSync(root, { withFileTypes: true })
      .filter((entry) => entry.isDirectory())
      .flatMap(({ name }) =>
        readdirSync(join(root, name))
          .filter((file) => /^(policy|exceptions).*\.yaml$/.test(file))
          .map((file) => ({ name: `${name}/${file}`, folder: join(root, name), file })),
      )
  : [];

describeUnless(files.length === 0 ? noCorpus : undefined)('policies people run', () => {
  it.each(files)('$name', ({ name, folder, file }) => {
    const { policies, exceptions, globalContext, problems } = loadDocuments([
      { file: name, text: readFileSync(join(folder, file), 'utf8') },
    ]);
    const errors = problems.filter(({ severity }) => severity === 'error');
    if (refusedIn(folder).has(file) && !refusedByCluster.test(name)) {
      expect(errors).not.toEqual([]);
    } else {
      expect(errors).toEqual([]);
      expect(policies.length + exceptions.length + globalContext.length).toBeGreaterThan(0);
    }
  });
});
