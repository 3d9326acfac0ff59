import { expect, it } from 'vitest';
import type { FieldEnd, ShownReplacement } from '../engine/evaluation.ts';
import { arrowPath, layOut } from './arrow-layout.ts';

const end = (line: number | undefined): FieldEnd => ({ resource: 0, title: '', path: '', options: '', line });
const replacement = (from: number | undefined, ...to: (number | undefined)[]): ShownReplacement => ({
  name: '',
  at: { role: 'files', file: '', line: 1, path: [] },
  value: '',
  source: end(from),
  targets: to.map(end),
});
const middleOf = ({ line }: FieldEnd) => (line === undefined ? undefined : line * 10);

it('arrows that overlap have lanes of their own, the shortest nearest to the lines', () => {
  const arrows = layOut([replacement(1, 9, 5), replacement(2, 3), replacement(10, 12)], middleOf);
  expect(arrows.map(({ of, from, to, lane }) => [of, from, to, lane])).toEqual([
    [1, 20, 30, 0],
    [2, 100, 120, 0],
    [0, 10, 90, 1],
    [0, 10, 50, 1],
  ]);
});

it('has no arrow for an end that is not shown, or without a source', () => {
  const literal = { ...replacement(1, 2), source: undefined };
  expect(layOut([replacement(undefined, 2), replacement(1, undefined), literal], middleOf)).toEqual([]);
});

it('is bounded', () => {
  const many = Array.from({ length: 50 }, (_, at) =>
    replacement(at, ...Array.from({ length: 20 }, () => at + 1)),
  );
  expect(layOut(many, middleOf).length).toBe(200);
});

it('begins at the source, ends at the target, and stays in the gutter', () => {
  const up = arrowPath({ of: 0, from: 90, to: 10, lane: 4 });
  expect(up).toMatch(/^M40,90 H\d+ .* V16 .* H39$/);
  expect(Math.min(...[...up.matchAll(/[HQ]([\d.]+)/g)].map(([, x]) => Number(x)))).toBeGreaterThanOrEqual(0);
});
