import type { Paint } from '../output/style.ts';
import type { RuleCoverage } from './coverage.ts';

/** How much the tests exercised, and below it what they did not. */
export function coverageText(coverage: readonly RuleCoverage[], paint: Paint): string {
  const loops = coverage.flatMap((one) => one.loops);
  const anchors = coverage.flatMap((one) => one.anchors);
  const shares = [
    share(
      'rules applied',
      coverage.map((one) => one.applied),
      paint,
    ),
    share(
      'foreach bodies run',
      loops.map((loop) => loop.ran),
      paint,
    ),
    share(
      'anchors held',
      anchors.map((anchor) => anchor.held),
      paint,
    ),
  ];
  const lines = ['', `${paint('bold', 'coverage')}: ${shares.flat().join(', ')}`];
  for (const one of coverage) {
    const gaps = gapsOf(one);
    if (gaps.length === 0) continue;
    lines.push(`  policy ${paint('bold', one.policy)}, rule ${paint('bold', one.rule)} (${one.file})`);
    for (const gap of gaps) lines.push(`    ${paint('yellow', '!')} ${gap}`);
  }
  return `${lines.join('\n')}\n`;
}

function share(what: string, done: readonly boolean[], paint: Paint): string[] {
  if (done.length === 0) return [];
  const count = done.filter(Boolean).length;
  return [`${paint(count === done.length ? 'green' : 'yellow', `${count} of ${done.length}`)} ${what}`];
}

function gapsOf({ applied, loops, anchors }: RuleCoverage): string[] {
  const notHeld = anchors.filter((anchor) => !anchor.held);
  return [
    ...(applied ? [] : ['no test sees it change an object']),
    ...loops.filter((loop) => !loop.ran).map(({ path }) => `no test runs the body of ${path}`),
    ...notHeld.map(({ anchor, place, missed }) =>
      missed ? `anchor ${anchor} at ${place} never holds` : `anchor ${anchor} at ${place} is never reached`,
    ),
  ];
}
