import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { root } from './setup.mjs';

const interruptions = ['SIGINT', 'SIGTERM', 'SIGHUP'];

/** Runs vitest with our standard streams and returns the summary of test-summary-reporter.mjs. */
export async function runVitest(name, args, environment = {}) {
  const summaryFile = join(root, '.cache', `${name}-summary.json`);
  mkdirSync(join(root, '.cache'), { recursive: true });
  rmSync(summaryFile, { force: true });
  const reporters = [
    '--reporter=default',
    `--reporter=${join(root, 'scripts', 'test-summary-reporter.mjs')}`,
  ];
  const child = spawn('node', ['node_modules/vitest/vitest.mjs', 'run', ...reporters, ...args], {
    cwd: root,
    stdio: ['ignore', 'inherit', 'inherit'],
    env: { ...process.env, ...environment, KYMERA_TEST_SUMMARY: summaryFile },
  });
  // vitest ends at once, and with it what it has started. This process goes on, to report what there is.
  let isInterrupted = false;
  const interrupt = (signal) => {
    isInterrupted = true;
    child.kill(signal);
  };
  for (const signal of interruptions) process.on(signal, interrupt);
  const [status] = await once(child, 'exit');
  for (const signal of interruptions) process.off(signal, interrupt);
  const summary = existsSync(summaryFile)
    ? JSON.parse(readFileSync(summaryFile, 'utf8'))
    : {
        passed: 0,
        failed: 0,
        skipped: [],
        errors: [isInterrupted ? 'interrupted' : 'vitest exited without a result'],
      };
  const named = summary.failed + summary.errors.length;
  // vitest may fail without naming a test.
  return { ...summary, isInterrupted, failures: named === 0 && status !== 0 ? 1 : named };
}

/** Prints why tests were skipped, then the line `N passed, N failed[, N skipped]`. Returns the exit code. */
export function report(summaries) {
  const skipped = summaries.flatMap((summary) => summary.skipped);
  for (const [reason, names] of groupByReason(skipped)) {
    console.log(`skipped: ${names.length > 1 ? `${names.length} tests` : names[0]}: ${reason}`);
  }
  for (const error of summaries.flatMap((summary) => summary.errors)) {
    console.log(`error outside a test: ${error}`);
  }
  const total = (field) => summaries.reduce((sum, summary) => sum + summary[field], 0);
  const tail = skipped.length > 0 ? `, ${skipped.length} skipped` : '';
  console.log(`${total('passed')} passed, ${total('failures')} failed${tail}`);
  return total('failures') === 0 ? 0 : 1;
}

function groupByReason(skipped) {
  const groups = new Map();
  for (const { name, reason } of skipped) groups.set(reason, [...(groups.get(reason) ?? []), name]);
  return groups;
}
