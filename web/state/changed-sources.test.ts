import { expect, it } from 'vitest';
import type { SourceText } from '../engine/workspace.ts';
import { changedSources } from './changed-sources.ts';

const set = (policies: SourceText[]) => ({ policies, resources: [], context: [], files: [] });
const text = (name: string, value: string): SourceText => ({ name, text: value });

it('a file that changed on disk replaces the one in the page; other edits and tabs stay', () => {
  const before = set([text('a', '1'), text('b', '1'), text('gone', '1')]);
  const after = set([text('a', '2'), text('b', '1'), text('new', '1')]);
  const shown = set([text('a', '1'), text('b', 'edited'), text('gone', '1'), text('own', 'tab')]);
  expect(changedSources(before, after, shown).policies).toEqual([
    text('a', '2'),
    text('b', 'edited'),
    text('own', 'tab'),
    text('new', '1'),
  ]);
});
