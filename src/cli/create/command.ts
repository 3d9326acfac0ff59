import type { Command } from 'commander';
import type { CommandHost } from '../io.ts';

const testExamples = `
The test expects the current behavior of the policies: review it before you rely on it. Existing files are not
overwritten without --force. Exit codes: 0 the test was written and passes; 1 it fails; 2 invalid input.

Examples:
  $ kymera create test policy.yaml -r pod.yaml -o tests/first
  $ kymera create test policies/ -r pod.yaml deployment.yaml --values values.yaml -o tests/all`;

const policyExamples = `
Examples:
  $ kymera create policy add-labels --kind Pod
  $ kymera create policy add-labels --kind Deployment StatefulSet -o add-labels.yaml
  $ kymera create policy add-labels --kind ConfigMap --namespace team-a
  $ kymera create policy add-labels --kind Pod --cel`;

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
    .description('Write a test of the current behavior: kyverno-test.yaml and the expected objects.')
    .argument('<policy...>', 'files, folders or globs with policies')
    .requiredOption('-r, --resource <path...>', 'files, folders or globs with resources')
    .option('--target-resource <path...>', 'existing objects that policies can read')
    .option('-o, --output <folder>', 'output folder', '.')
    .option('-n, --name <name>', 'name of the test (default: the name of the folder)')
    .option('-f, --values <file>', 'a Values document: request, context and namespace labels')
    .option('-u, --userinfo <file>', 'a UserInfo document: who makes the request')
    .option('-e, --exceptions <path...>', 'files, folders or globs with PolicyExceptions')
    .option('--force', 'overwrite existing files')
    .option('--no-color', 'print without colors')
    .addHelpText('after', testExamples)
    .action(async (policies: string[], options) => {
      const { createTest } = await import('./test-starter.ts');
      end(await createTest(policies, options, io));
    });
}

function defineCreatePolicy(create: Command, { io, end }: CommandHost): void {
  create
    .command('policy')
    .description('Write a small policy with comments to start from.')
    .argument('<name>', 'the name of the policy')
    .option('-k, --kind <kind...>', 'kinds to match', ['Pod'])
    .option('-n, --namespace <namespace>', 'write a policy for this namespace only')
    .option('--cel', 'write a MutatingPolicy with CEL expressions instead of a ClusterPolicy')
    .option('-o, --output <file>', 'output file (default: standard output)')
    .option('--force', 'overwrite an existing file')
    .addHelpText('after', policyExamples)
    .action(async (name: string, options) => {
      const { createPolicy } = await import('./policy-starter.ts');
      end(await createPolicy(name, options, io));
    });
}

function defineCreateException(create: Command, { io, end }: CommandHost): void {
  create
    .command('exception')
    .description('Write a PolicyException: objects that are exempt from rules of a policy.')
    .argument('<policy>', 'a file with the policy, or its name')
    .requiredOption('-n, --namespace <namespace>', 'namespace of the objects and of the exception')
    .option('-R, --rule <rule...>', 'rules to exempt from (default: all rules of the policy file)')
    .option('-k, --kind <kind...>', 'kinds to match (default: the kinds of the policy file)')
    .option('--names <pattern...>', 'names of the objects, with wildcards (default: all)')
    .option('--name <name>', 'name of the exception (default: NAME-exception)')
    .option('-o, --output <file>', 'output file (default: standard output)')
    .option('--force', 'overwrite an existing file')
    .addHelpText('after', exceptionExamples)
    .action(async (policy: string, options) => {
      const { createException } = await import('./exception-starter.ts');
      end(await createException(policy, options, io));
    });
}
