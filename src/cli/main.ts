import { OutputError, processIo } from './io.ts';
import { run } from './program.ts';

const io = processIo();
const code = await run(process.argv.slice(2), {
  ...io,
  testWorker: new URL('./test-worker.js', import.meta.url),
}).catch((error: unknown) => {
  // `finish` reports it.
  if (error instanceof OutputError) return 0 as const;
  throw error;
});
process.exitCode = await io.finish(code);
