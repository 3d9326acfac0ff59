import { readFileSync } from 'node:fs';
import type { JsonObject } from '../../src/json/value.ts';
import { parseYamlText } from '../../src/yaml/parse-text.ts';
import type { ConformanceCase, Expectation } from './case.ts';

type Block = 'rule' | 'rules' | 'object' | 'result' | 'patch' | 'failed' | 'problems';

/**
 * The examples of a page as cases: one for each `###` section with code blocks marked `yaml rule`, `yaml object`, `yaml result` and so on.
 */
export function readDocumentedExamples(page: string): readonly ConformanceCase[] {
  const sections = readFileSync(page, 'utf8').split(/^### /m).slice(1);
  return sections.flatMap((section) => {
    const title = section.slice(0, section.indexOf('\n'));
    const blocks = blocksOf(section);
    return blocks.size === 0 ? [] : [toCase(title, blocks)];
  });
}

function blocksOf(section: string): ReadonlyMap<Block, unknown> {
  const marked = section.matchAll(/^```yaml (\w+)\n(.*?)^```$/gms);
  return new Map([...marked].map(([, name, text]) => [name as Block, parseYamlText(text ?? '')]));
}

function toCase(title: string, blocks: ReadonlyMap<Block, unknown>): ConformanceCase {
  const rules = (blocks.get('rules') ?? [blocks.get('rule')]) as JsonObject[];
  const resource = blocks.get('object') as JsonObject | undefined;
  const expectation = {
    object: blocks.get('result'),
    patch: blocks.get('patch'),
    failed: blocks.get('failed'),
    problems: blocks.get('problems'),
  };
  return {
    id: title,
    sheet: 'docs',
    title,
    policy: { name: 'example', rules },
    ...(resource ? { resource } : {}),
    expect: Object.fromEntries(
      Object.entries(expectation).filter(([, value]) => value !== undefined),
    ) as Expectation,
  };
}
