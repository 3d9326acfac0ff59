import type { Command } from 'commander';
import type { CommandHost } from '../io.ts';

const examples = `
A transformer for kustomize: reads resources from standard input, applies a policy, prints the resources.

  as a KRM function     a ResourceList on standard input, whose functionConfig is the policy
  as an exec plugin     a file with the policy as argument, resources on standard input
  with neither          policies and resources together on standard input

Instead of a policy, the config may be a PolicyTransformer of kymera.io/v1, with a list of files under policies.
\`kymera build\` applies policies under transformers by itself and needs none of this.

Exit codes: 0 fine; 1 a rule failed; 2 bad input.

Examples:
  $ kymera transform policy.yaml < resources.yaml
  $ kustomize build . | kymera transform policy.yaml
  $ kymera transform < resource-list.yaml`;

export function defineTransform(program: Command, { io, end }: CommandHost): void {
  program
    .command('transform')
    .description('Apply a policy to the resources on standard input, as a plugin or function of kustomize.')
    .argument('[file]', 'a file with a policy or a PolicyTransformer')
    .argument('[arguments...]', 'what kustomize passes on from argsOneLiner; nothing is made of it')
    .addHelpText('after', examples)
    .action(async (file: string | undefined) => {
      const { transform } = await import('./transform.ts');
      end(await transform(file, io));
    });
}
