import { type Command, InvalidArgumentError } from 'commander';
import { inputError } from '../../problem.ts';
import type { CommandHost } from '../io.ts';

interface ParsedPlaygroundOptions {
  readonly resource?: readonly string[] | undefined;
  readonly targetResource?: readonly string[] | undefined;
  readonly kustomize?: string | undefined;
  readonly write?: boolean | undefined;
  readonly port: number;
}

const examples = `
The page runs the engine in the browser. It opens the files given and loads them again when they change on disk. The server listens
on this machine only, and its address contains a token. Without files, the page shows an example.

Examples:
  $ kymera playground
  $ kymera playground policies/ -r pod.yaml
  $ kymera playground policies/ -k overlays/production    the stages of a build, with the policies on top
  $ kymera playground policy.yaml -r pod.yaml --write     save what you type`;

export function definePlayground(program: Command, { io, end }: CommandHost): void {
  program
    .command('playground')
    .argument('[policies...]', 'files, folders or globs with policies and exceptions')
    .description('Open a page that shows, as you type, what policies do to objects, and why.')
    .option('-r, --resource <path...>', 'files, folders or globs with the objects')
    .option('--target-resource <path...>', 'files, folders or globs with objects that policies can read')
    .option('-k, --kustomize <folder>', 'a folder with a kustomization, instead of objects')
    .option('--write', 'save edits to the files')
    .option('--port <number>', 'port to listen on; 0 for any free port', readPort, 0)
    .addHelpText('after', examples)
    .action(async (policies: string[], parsed: ParsedPlaygroundOptions) => {
      const { resource = [], targetResource = [], kustomize, write = false, port } = parsed;
      if ([...policies, ...resource, ...targetResource].includes('-')) {
        throw inputError('KYM_USAGE', 'the playground reads files: standard input cannot be one of them');
      }
      const { playground } = await import('./playground.ts');
      end(await playground({ policies, resource, targetResource, kustomize, write, port }, io));
    });
}

function readPort(text: string): number {
  const port = Number(text);
  if (!Number.isInteger(port) || port < 0 || port > 65_535) throw new InvalidArgumentError('not a port');
  return port;
}
