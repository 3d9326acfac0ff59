import { expect, it } from 'vitest';
import { Overloaded } from '../http-error.ts';
import type { Log } from '../log.ts';
import { createShedReport } from './shed-report.ts';

it('counts every review that is shed, and logs them once in ten seconds', () => {
  const counted: string[] = [];
  const lines: unknown[] = [];
  let time = 5_000;
  const log = { warn: (fields: object, message: string) => lines.push([message, fields]) } as unknown as Log;
  const report = createShedReport(
    { countShed: (...labels) => counted.push(labels.join(' ')) },
    log,
    () => time,
  );
  const shed = (count: number) => {
    for (let index = 0; index < count; index += 1)
      report(new Overloaded('queue'), { label: '/mutate/fail', path: '/mutate/fail' });
  };
  shed(3);
  expect(lines).toHaveLength(1);
  time += 9_999;
  shed(4);
  expect(lines).toHaveLength(1);
  time += 1;
  shed(1);
  const reason = 'the server is overloaded: too many reviews are waiting';
  expect(lines).toEqual([
    ['reviews shed', { path: '/mutate/fail', reason, reviews: 1 }],
    ['reviews shed', { path: '/mutate/fail', reason, reviews: 7 }],
  ]);
  expect(counted).toEqual(Array.from({ length: 8 }, () => '/mutate/fail queue'));
});
