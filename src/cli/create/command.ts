import type { Command } from 'commander';
import type { CommandHost } from '../io.ts';

const testExamples = `
The test expects what the policies do now: read it before you rely on it. Files that are there are not
overwritten without --force. Exit codes: 0 written, and the test passes; 1 it does not pass; 2 bad input.

Examples:
  $ kymera create test policy.yaml -r pod.yaml -o tests/first
  $ kymera create test policies/ -r pod.yaml deployment.yaml --values values.yaml -o tests/all`;

const policyExamples = `
Examples:
  $ kymera create policy add-labels --kind Pod
  $ kymera create policy add-labels --kind Deployment StatefulSet -o add-labels.yaml
  $ kymera create policy add-labels --kind ConfigMap --namespace team-a`;

const exceptionExamples = `
Examples:
  $ kymera create exception policy.yaml --namespace legacy
  $ kymera create exception policy.yaml --rule r --kind Pod --names 'old-*' --namespace legacy
  $ kymera create exception add-labels --rule add --kind Pod --namespace legacy -o exception.yaml`;

export function defineCreate(program: Command, host: CommandHost): void {
  const create = program.command('create').description('Write a starter: a test, a policy or an exception.');
  defineCreateTest(create, host);
  defineCreatePolicy(create, host);
  defineCreateException(create, host);
}

function defineCreateTest(create: Command, { io, end }: CommandHost): void {
  create
    .command('test')
    .description(
      'Write a test from what policies make of resources now: kyverno-test.yaml and expected objects.',
    )
    .argument('<policy...>', 'files, folders or globs with policies')
    .requiredOption('-r, --resource <path...>', 'files, folders or globs with resources')
    .option('--target-resource <path...>', 'objects of the cluster that policies read')
    .option('-o, --output <folder>', 'where to write', '.')
    .option('-n, --name <name>', 'the name of the test; that of the folder when absent')
    .option('-f, --values <file>', 'a Values document: request, context and namespace labels')
    .option('-u, --userinfo <file>', 'a UserInfo document: who makes the request')
    .option('-e, --exceptions <path...>', 'files, folders or globs with PolicyExceptions')
    .option('--force', 'overwrite files that are there')
    .option('--no-color', 'print without colours')
    .addHelpText('after', testExamples)
    .action(async (policies: string[], options) => {
      const { createTest } = await import('./test-starter.ts');
      end(await createTest(policies, options, io));
    });
}

function defineCreatePolicy(create: Command, { io, end }: CommandHost): void {
  create
    .command('policy')
    .description('Write a small policy with comments, to be filled in.')
    .argument('<name>', 'the name of the policy')
    .option('-k, --kind <kind...>', 'the kinds it is for', ['Pod'])
    .option('-n, --namespace <namespace>', 'make a Policy for one namespace, not a ClusterPolicy')
    .option('-o, --output <file>', 'where to write; standard output when absent')
    .option('--force', 'overwrite a file that is there')
    .addHelpText('after', policyExamples)
    .action(async (name: string, options) => {
      const { createPolicy } = await import('./policy-starter.ts');
      end(await createPolicy(name, options, io));
    });
}

function defineCreateException(create: Command, { io, end }: CommandHost): void {
  create
    .command('exception')
    .description('Write a PolicyException: objects for which rules of a policy do not apply.')
    .argument('<policy>', 'a file with the policy, or its name')
    .requiredOption('-n, --namespace <namespace>', 'the namespace of the objects, and of the exception')
    .option('-R, --rule <rule...>', 'the rules to lift; all rules of a policy file when absent')
    .option('-k, --kind <kind...>', 'the kinds it is for; those of the policy file when absent')
    .option('--names <pattern...>', 'names of the objects, with wildcards; all when absent')
    .option('--name <name>', 'the name of the exception; NAME-exception when absent')
    .option('-o, --output <file>', 'where to write; standard output when absent')
    .option('--force', 'overwrite a file that is there')
    .addHelpText('after', exceptionExamples)
    .action(async (policy: string, options) => {
      const { createException } = await import('./exception-starter.ts');
      end(await createException(policy, options, io));
    });
}
