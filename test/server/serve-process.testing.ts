import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const root = new URL('../../', import.meta.url).pathname;

/** A server in a process of its own, with the policies of one file. */
export interface ServeProcess {
  readonly child: ChildProcess;
  readonly url: string;
  readonly port: number;
  readonly ca: string;
  readonly caFile: string;
  /** Of the thread that answers, in milliseconds: unlike elapsed time, it does not depend on other processes. */
  cpuMilliseconds(): number;
  /** The largest resident size so far. */
  peakMegabytes(): number;
}

export async function startServeProcess(policies: string, heapMegabytes: number): Promise<ServeProcess> {
  const folder = mkdtempSync(join(tmpdir(), 'kymera-serve-'));
  writeFileSync(join(folder, 'policy.yaml'), policies);
  const serve = ['serve', '--policies', 'policy.yaml', '--state-dir', 'state', '--port', '0'];
  const child = spawn(
    process.execPath,
    [`--max-old-space-size=${heapMegabytes}`, join(root, 'bin/kymera'), ...serve, '--log-level', 'error'],
    { cwd: folder, stdio: ['ignore', 'pipe', 'inherit'] },
  );
  const port = await new Promise<number>((resolve, reject) => {
    let output = '';
    child.once('exit', (code) => reject(new Error(`the server ended with ${code}`)));
    child.stdout.on('data', (chunk) => {
      output += chunk;
      const [, found] = /https:\/\/127\.0\.0\.1:(\d+)\/mutate/.exec(output) ?? [];
      if (found !== undefined) resolve(Number(found));
    });
  });
  const caFile = join(folder, 'state', 'ca.crt');
  const { pid } = child;
  return {
    child,
    url: `https://127.0.0.1:${port}`,
    port,
    ca: readFileSync(caFile, 'utf8'),
    caFile,
    cpuMilliseconds() {
      // After the name, which may contain spaces: utime and stime are the fields 14 and 15, in hundredths of a second.
      const fields = readFileSync(`/proc/${pid}/task/${pid}/stat`, 'utf8').split(') ')[1]?.split(' ') ?? [];
      return (Number(fields[11]) + Number(fields[12])) * 10;
    },
    peakMegabytes: () =>
      Number(/^VmHWM:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]) / 1024,
  };
}
