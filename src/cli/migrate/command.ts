import type { Command } from 'commander';
import { withFormat } from '../format-option.ts';
import type { CommandHost } from '../io.ts';
import { withOffline } from '../offline-option.ts';

const examples = `
Reports for each Kyverno policy whether it runs here with the same result, differs (with the command that explains it) or does not
load, and which rules (validate, verifyImages) stay with Kyverno. Then where each policy can run: on Kyverno 1.19, on Kyverno
1.20 and later (in CEL only), and in Kubernetes as a MutatingAdmissionPolicy (MAP); "converted" means after kymera convert,
with the same results. Changes nothing; kymera convert --to kymera moves policies to Kymera. Exit codes: 0 all policies that run here run unchanged; 1 a policy differs or does not load; 2 invalid input.

Examples:
  $ kymera migrate check policies/
  $ kymera migrate check policies/ -o json
  $ kymera migrate check --cluster`;

export function defineMigrate(program: Command, { io, end }: CommandHost): void {
  const migrate = program.command('migrate').description('Migrate from Kyverno.');
  withFormat(withOffline(migrate.command('check')), ['table', 'json'], 'table')
    .description('Report which policies run unchanged, which differ, which stay, and where each can run.')
    .argument('[path...]', 'files, folders or globs with policies; - for standard input')
    .option('-c, --cluster', 'check the policies of a cluster')
    .option('--kubeconfig <file>', 'kubeconfig of the cluster (default: the one kubectl uses)')
    .option('--context <name>', 'context of the kubeconfig')
    .option('--no-color', 'print without colors')
    .addHelpText('after', examples)
    .action(async (paths: string[], options) => {
      const { check } = await import('./migrate.ts');
      end(await check(paths, options, io));
    });
}
