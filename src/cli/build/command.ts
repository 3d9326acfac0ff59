import { type Command, Option } from 'commander';
import type { CommandHost } from '../io.ts';

const examples = `
Builds a kustomization as kustomize does. Folders of git repositories are fetched with git, unless --offline is set.
Nothing is written unless the whole build succeeds.

Exit codes: 0 success; 1 a rule of --policies failed; 2 the kustomization cannot be built.

Examples:
  $ kymera build overlays/production
  $ kymera build . -o manifests.yaml
  $ kymera build . -o manifests/                      one file per resource
  $ kymera build . --enable-plugins                   also run exec plugins and functions
  $ kymera build . --policies policies/               with the mutations of admission
  $ kymera build . --explain > /dev/null              what each entry of the kustomizations changes`;

export function defineBuild(program: Command, { io, end }: CommandHost): void {
  withBuildOptions(
    program
      .command('build')
      .description('Build a kustomization as kustomize does.')
      .argument('[path]', 'a folder with a kustomization, a kustomization file, or - for standard input', '.')
      .option('-o, --output <path>', 'a file, or a folder that receives one file per resource')
      .option(
        '--policies <path...>',
        'apply these policies to the resources and report each change on stderr',
      )
      .option('--explain', 'report on stderr what each stage of the build changes')
      .option('-q, --quiet', 'do not report the changes of policies'),
  )
    .addHelpText('after', examples)
    .action(async (path: string, options) => {
      const { build } = await import('./build.ts');
      end(await build(path, options, io));
    });
}

/** The options of every command that builds a kustomization, with kustomize's names. */
export function withBuildOptions(command: Command): Command {
  return command
    .option('--enable-plugins', 'run exec plugins and functions')
    .addOption(new Option('--enable-alpha-plugins').hideHelp())
    .addOption(new Option('--enable-exec').hideHelp())
    .option('--enable-helm', 'render helmCharts with helm')
    .option('--helm-command <command>', 'the helm program', 'helm')
    .option('--helm-kube-version <version>', 'the Kubernetes version that charts see')
    .option('--helm-api-versions <version...>', 'the API versions that charts see')
    .addOption(new Option('--helm-debug').hideHelp())
    .option('--offline', 'refuse to fetch repositories and charts')
    .option('--plugin-timeout <seconds>', 'time limit of a plugin', '60')
    .addOption(
      new Option('--load-restrictor <rule>', 'whether files outside the folder may be read')
        .choices(['LoadRestrictionsRootOnly', 'LoadRestrictionsNone'])
        .default('LoadRestrictionsRootOnly'),
    )
    .addOption(new Option('--load_restrictor <rule>').hideHelp())
    .addOption(
      new Option('--reorder <order>', 'order of the output unless sortOptions is set').choices([
        'legacy',
        'none',
      ]),
    );
}
