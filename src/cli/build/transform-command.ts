import type { Command } from 'commander';
import type { CommandHost } from '../io.ts';

const examples = `
A transformer for kustomize: reads resources from standard input, applies a policy and prints the resources.

  KRM function     standard input is a ResourceList whose functionConfig is the policy
  exec plugin      the argument is a file with the policy, standard input contains the resources
  neither          standard input contains policies and resources

Instead of a policy, the config can be a PolicyTransformer of kymera.io/v1 with a list of files under policies.
\`kymera build\` applies policies under transformers itself and does not need this command.

Exit codes: 0 success; 1 a rule failed; 2 invalid input.

Examples:
  $ kymera transform policy.yaml < resources.yaml
  $ kustomize build . | kymera transform policy.yaml
  $ kymera transform < resource-list.yaml`;

export function defineTransform(program: Command, { io, end }: CommandHost): void {
  program
    .command('transform')
    .description('Apply a policy to the resources on standard input, as a plugin or function of kustomize.')
    .argument('[file]', 'a file with a policy or a PolicyTransformer')
    .argument('[arguments...]', 'arguments that kustomize passes from argsOneLiner; ignored')
    .addHelpText('after', examples)
    .action(async (file: string | undefined) => {
      const { transform } = await import('./transform.ts');
      end(await transform(file, io));
    });
}
