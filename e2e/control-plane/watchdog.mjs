// `node watchdog.mjs FOLDER PID SECONDS`: ends what was started for FOLDER when process PID is gone, or time is up, so that a
// suite that was killed leaves nothing running. Programs are known by the ids in the files `pids`, and by the folder in their arguments.
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

const [folder, owner, seconds] = process.argv.slice(2);
const deadline = Date.now() + Number(seconds) * 1000;
const known = new Set();

const timer = setInterval(() => {
  for (const pid of listedIds()) known.add(pid);
  if (exists(Number(owner)) && Date.now() < deadline) return;
  for (const pid of known) if (pid !== process.pid && belongsHere(pid)) process.kill(pid, 'SIGKILL');
  clearInterval(timer);
}, 1_000);

function listedIds() {
  const files = ['pids', ...subfolders().map((name) => join(name, 'pids'))];
  return files.flatMap((file) => readLines(join(folder, file))).map(Number);
}

function subfolders() {
  try {
    const entries = readdirSync(folder, { withFileTypes: true });
    return entries.filter((entry) => entry.isDirectory()).map(({ name }) => name);
  } catch {
    return [];
  }
}

function readLines(file) {
  try {
    return readFileSync(file, 'utf8').split('\n').filter(Boolean);
  } catch {
    return [];
  }
}

function exists(pid) {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}

/** The process id may have been reused by another process. */
function belongsHere(pid) {
  return readLines(`/proc/${pid}/cmdline`).join(' ').includes(folder);
}
