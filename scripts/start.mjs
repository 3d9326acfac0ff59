// `npm start`: serves the sample policies as a mutating webhook, and the playground at /. With arguments, it runs `kymera` with them.
import { spawn } from 'node:child_process';
import { ensureCommandLineBuilt, ensureWebBuilt, root } from './setup.mjs';

const sampleServer = ['serve', '--policies', 'policies', '--state-dir', '.cache/serve', '--playground'];

await ensureCommandLineBuilt();
const given = process.argv.slice(2);
if (given.length === 0 || given[0] === 'playground') await ensureWebBuilt();
const child = spawn('node', ['bin/kymera', ...(given.length > 0 ? given : sampleServer)], {
  cwd: root,
  stdio: 'inherit',
  env: colorEnvironment(),
});
// A terminal sends signals to both processes; other senders signal only this one.
for (const signal of ['SIGINT', 'SIGTERM']) process.on(signal, () => child.kill(signal));
child.on('exit', (status) => process.exit(status ?? 1));

/** npm hides the terminal from some programs, so colors must be requested. */
function colorEnvironment() {
  return process.stdout.isTTY && !process.env.NO_COLOR ? { ...process.env, FORCE_COLOR: '1' } : process.env;
}
