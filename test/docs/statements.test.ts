import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect, test } from 'vitest';
import { assumedKinds } from '../../src/cli/input/assumed-kinds.ts';
import { kinds, policy, rule } from '../../src/cluster/policies/policy.testing.ts';
import { mutatingConfiguration } from '../../src/cluster/webhooks/configuration.ts';
import { blocksOf, markdownPages, root } from './pages.testing.ts';

const read = (path: string) => readFileSync(join(root, path), 'utf8');

/** Blocks after the words `This is [path](path).` show that file. */
const shown = markdownPages().flatMap((page) =>
  [...page.text.matchAll(/^This is \[[^\]]+\]\(([^)]+)\)/gm)].map((found) => {
    const line = page.text.slice(0, found.index).split('\n').length;
    const block = blocksOf(page).find((each) => each.line > line);
    return [`${page.path}:${line}`, join(dirname(page.path), found[1] ?? ''), block?.text ?? ''] as const;
  }),
);

test('the README shows a policy file', () => {
  expect(shown.map(([, file]) => file)).toContain('policies/image-defaults/policy.yaml');
});

test.each(shown)('%s shows %s as it is', (_, file, text) => {
  expect(text).toBe(read(file));
});

test('gitops.md states the side effects of the webhooks', () => {
  const policies = [policy('p', [rule(kinds('Pod'))])];
  const { document } = mutatingConfiguration(policies, assumedKinds(policies), {
    target: { url: 'https://localhost', caBundle: '' },
    namespace: 'kymera',
  });
  const [webhook] = document['webhooks'] as [{ sideEffects: string }];
  expect(read('docs/gitops.md')).toContain(`The webhooks have \`sideEffects: ${webhook.sideEffects}\`.`);
});

test('pages that mention npm run build say that it writes dist/', () => {
  for (const { path, text } of markdownPages()) {
    for (const line of text.split('\n').filter((each) => each.includes('`npm run build`'))) {
      expect(`${path}: ${line}`).toContain('`dist/`');
    }
  }
});

test('no message names a page of the repository, which users do not have', () => {
  const sources = readdirSync(join(root, 'src'), { recursive: true, encoding: 'utf8' }).filter(
    (name) => name.endsWith('.ts') && !/\.(?:test|testing)\.ts$/.test(name),
  );
  const named = sources.flatMap((name) =>
    read(join('src', name))
      .split('\n')
      .filter(
        (line) => /['"`][^'"`]*\b[\w-]+\.md\b/.test(line) && !/^\s*(?:\*|\/\/|\/\*)|new URL\(/.test(line),
      )
      .map((line) => `${name}: ${line.trim()}`),
  );
  expect(named).toEqual([]);
});
