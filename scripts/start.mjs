// `npm start`: shows what the engine does to a Pod, and why some rules did nothing. Arguments go to `kymera` instead.
import { spawnSync } from 'node:child_process';
import { ensureBuilt, root } from './setup.mjs';

const policies = ['policies/image-defaults', 'policies/mirror-registry', 'policies/host-network-dns'];
const pod = 'policies/resources/web-pod.yaml';

await ensureBuilt();
const given = process.argv.slice(2);
const commands =
  given.length > 0
    ? [given]
    : [
        ['apply', ...policies.map(policyFile), '-r', pod],
        ['explain', ...policies.map(policyFile), '-r', pod],
      ];

let exitCode = 0;
for (const command of commands) {
  console.log(`${bold(`$ kymera ${command.join(' ')}`)}\n`);
  const result = spawnSync('node', ['bin/kymera', ...command], {
    cwd: root,
    stdio: 'inherit',
    env: colourEnvironment(),
  });
  exitCode ||= result.status ?? 1;
  console.log();
}
process.exit(exitCode);

function policyFile(folder) {
  return `${folder}/policy.yaml`;
}

function bold(text) {
  return process.stdout.isTTY ? `\u001b[1m${text}\u001b[22m` : text;
}

/** npm hides the terminal from some programs; colours are wanted where there is one. */
function colourEnvironment() {
  return process.stdout.isTTY && !process.env.NO_COLOR ? { ...process.env, FORCE_COLOR: '1' } : process.env;
}
