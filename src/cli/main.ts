import { processIo } from './io.ts';
import { run } from './program.ts';

// A reader that went away (`| head`) is no reason for a stack trace.
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code === 'EPIPE') process.exit(0);
  throw error;
});

process.exitCode = await run(process.argv.slice(2), {
  ...processIo(),
  testWorker: new URL('./test-worker.js', import.meta.url),
});
