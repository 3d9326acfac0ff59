// `node watchdog.mjs FOLDER PID`: when process PID is gone, ends all processes that have FOLDER in their arguments and removes FOLDER,
// so that a suite that was interrupted leaves nothing behind.
import { execFileSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';

const [folder, owner] = process.argv.slice(2);

const timer = setInterval(() => {
  if (signal(Number(owner), 0)) return;
  const left = readdirSync('/proc').map(Number).filter(belongsHere);
  for (const pid of left) signal(pid, 'SIGKILL');
  // A worker of the suite may live a moment longer, and start another one.
  if (left.length > 0) return;
  clearInterval(timer);
  if (existsSync(join(folder, 'keep'))) return;
  for (const path of mounted()) execFileSync('umount', ['--lazy', path]);
  rmSync(folder, { recursive: true, force: true });
}, 1_000);

function signal(pid, name) {
  try {
    process.kill(pid, name);
    return true;
  } catch {
    return false;
  }
}

function belongsHere(pid) {
  return pid > 0 && pid !== process.pid && read(`/proc/${pid}/cmdline`).includes(folder);
}

function mounted() {
  const places = read('/proc/mounts')
    .split('\n')
    .map((line) => line.split(' ')[1] ?? '');
  return places.filter((path) => path.startsWith(`${folder}/`));
}

function read(file) {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return '';
  }
}
