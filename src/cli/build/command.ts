import { type Command, Option } from 'commander';
import type { CommandHost } from '../io.ts';

const examples = `
Builds what kustomize builds, from local files only. Nothing is written unless the whole build is good.

Exit codes: 0 fine; 1 a rule of --policies failed; 2 the kustomization cannot be built.

Examples:
  $ kymera build overlays/production
  $ kymera build . -o manifests.yaml
  $ kymera build . -o manifests/                      one file for each resource
  $ kymera build . --enable-plugins                   run exec plugins and functions too
  $ kymera build . --policies policies/               with what admission will make of it`;

export function defineBuild(program: Command, { io, end }: CommandHost): void {
  withBuildOptions(
    program
      .command('build')
      .description('Build a kustomization as kustomize does.')
      .argument('[path]', 'a folder with a kustomization, a kustomization file, or - for standard input', '.')
      .option('-o, --output <path>', 'a file, or a folder that gets one file for each resource')
      .option(
        '--policies <path...>',
        'apply these policies to what was built, and say on stderr which rule changed what',
      )
      .option('-q, --quiet', 'do not say what policies changed'),
  )
    .addHelpText('after', examples)
    .action(async (path: string, options) => {
      const { build } = await import('./build.ts');
      end(await build(path, options, io));
    });
}

/** The options of everything that builds a kustomization, with the names that kustomize has for them. */
export function withBuildOptions(command: Command): Command {
  return command
    .option('--enable-plugins', 'let exec plugins and functions run')
    .addOption(new Option('--enable-alpha-plugins').hideHelp())
    .addOption(new Option('--enable-exec').hideHelp())
    .option('--plugin-timeout <seconds>', 'how long a plugin may run', '60')
    .addOption(
      new Option('--load-restrictor <rule>', 'whether files outside the folder may be read')
        .choices(['LoadRestrictionsRootOnly', 'LoadRestrictionsNone'])
        .default('LoadRestrictionsRootOnly'),
    )
    .addOption(new Option('--load_restrictor <rule>').hideHelp())
    .addOption(
      new Option('--reorder <order>', 'order of the output where sortOptions says nothing').choices([
        'legacy',
        'none',
      ]),
    );
}
