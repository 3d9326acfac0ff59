import { describe, expect, it } from 'vitest';
import type { DiffLine } from '../engine/evaluation.ts';
import { foldRows, pairRows } from './rows.ts';

/** `=` same, `+` added, `-` removed. */
const lines = (kinds: string): DiffLine[] =>
  [...kinds].map((kind, index) => ({
    kind: kind === '=' ? 'same' : kind === '+' ? 'added' : 'removed',
    text: `${index}`,
    writers: [],
  }));
const shape = (kinds: string, open: number[] = []) =>
  foldRows(lines(kinds), new Set(open))
    .map((row) => (row.type === 'fold' ? `(${row.from}:${row.count})` : row.line.text))
    .join(' ');

describe('rows of a diff', () => {
  it('folds unchanged lines away from changes', () => {
    expect(shape('==========+==')).toBe('(0:7) 7 8 9 10 11 12');
    expect(shape('==========+==', [0])).toBe('0 1 2 3 4 5 6 7 8 9 10 11 12');
  });

  it('does not fold a few lines, or an object without a change', () => {
    expect(shape('======+')).toBe('0 1 2 3 4 5 6');
    expect(shape('==========')).toBe('0 1 2 3 4 5 6 7 8 9');
  });

  it('puts removed lines beside added lines', () => {
    const pairs = pairRows(foldRows(lines('=--+=+'), new Set()));
    expect(pairs.map((pair) => ('type' in pair ? 'fold' : [pair.left?.text, pair.right?.text]))).toEqual([
      ['0', '0'],
      ['1', '3'],
      ['2', undefined],
      ['4', '4'],
      [undefined, '5'],
    ]);
  });
});
