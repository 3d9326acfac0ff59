import { randomBytes } from 'node:crypto';
import type { AddressInfo } from 'node:net';
import { fileURLToPath } from 'node:url';
import fastify from 'fastify';
import { inputError } from '../../problem.ts';
import { addPageRoutes, readPageFiles } from '../../server/page.ts';
import { stopSignal } from '../input/stop-signal.ts';
import type { ExitCode, Io } from '../io.ts';
import { paintFor } from '../output/style.ts';
import { packageRoot } from '../package-root.ts';
import { addSessionRoutes } from './routes.ts';
import { openSession, type SessionInput } from './session.ts';

export interface PlaygroundOptions extends SessionInput {
  readonly port: number;
}

const host = '127.0.0.1';
const bodyLimit = 12 * 1024 * 1024;

/** `kymera playground`: serves the page and the files until it receives a stop signal. */
export async function playground(options: PlaygroundOptions, io: Io): Promise<ExitCode> {
  const page = readPageFiles(fileURLToPath(new URL('dist/web', packageRoot)));
  if (page === undefined) {
    throw inputError('KYM_INPUT_NOT_FOUND', 'the page is not built', { hint: 'run npm run build:web' });
  }
  const session = await openSession(options, io);
  const token = randomBytes(24).toString('base64url');
  const app = fastify({ bodyLimit, forceCloseConnections: true });
  addPageRoutes(app, page);
  addSessionRoutes(app, session, token);
  try {
    await app.listen({ host, port: options.port });
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw inputError('KYM_USAGE', `cannot listen on port ${options.port}: ${reason}`, {
      hint: 'choose another port with --port, or 0 for any free port',
    });
  }
  const stopped = stopSignal(io);
  const { port } = app.server.address() as AddressInfo;
  const paint = paintFor(io.stdout, io, undefined);
  await io.stdout.write(
    `${paint('bold', 'The playground is ready:')} http://${host}:${port}/#session=${token}\n` +
      `${options.write ? 'Edits are saved to the files. ' : ''}Stop with Ctrl-C.\n`,
  );
  await stopped;
  session.close();
  await app.close();
  return 0;
}
