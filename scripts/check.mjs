// `npm run check`: all static checks.
import { spawn } from 'node:child_process';
import { ensureInstalled, root } from './setup.mjs';

const steps = [
  ['types', 'typescript/bin/tsc', ['-p', '.']],
  ['types of the page', 'typescript/bin/tsc', ['-p', 'web']],
  [
    'lint and format',
    '@biomejs/biome/bin/biome',
    ['check', '--error-on-warnings', '--no-errors-on-unmatched'],
  ],
  [
    'import direction',
    'dependency-cruiser/bin/dependency-cruise.mjs',
    ['--config', '.dependency-cruiser.cjs', 'src', 'web'],
  ],
  ['unused code', 'knip/bin/knip.js', ['--no-progress']],
];

ensureInstalled();
let failed = 0;
for (const [name, program, args] of steps) {
  const startedAt = performance.now();
  const { status, output } = await capture(`node_modules/${program}`, args);
  const seconds = ((performance.now() - startedAt) / 1000).toFixed(1);
  console.log(`${status === 0 ? 'ok    ' : 'FAILED'} ${name.padEnd(18)} ${seconds.padStart(5)} s`);
  if (status !== 0) {
    failed += 1;
    console.log(output.trimEnd());
  }
}
console.log(failed === 0 ? 'check passed' : `check failed: ${failed} of ${steps.length} steps`);
process.exit(failed === 0 ? 0 : 1);

function capture(file, args) {
  return new Promise((resolve, reject) => {
    const child = spawn('node', [file, ...args], { cwd: root, stdio: ['ignore', 'pipe', 'pipe'] });
    let output = '';
    child.stdout.on('data', (chunk) => (output += chunk));
    child.stderr.on('data', (chunk) => (output += chunk));
    child.on('error', reject);
    child.on('close', (status) => resolve({ status, output }));
  });
}
