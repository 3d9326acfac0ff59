import { type Command, Option } from 'commander';
import type { CommandHost } from '../io.ts';
import { policyKinds } from './expressions.ts';

const evalExamples = `
The document is \`object\`. Functions and variables are those of the policy kind. With several expressions, each result
stands under its expression. Exit codes: 0 fine; 1 an expression fails; 2 an expression or the input cannot be read.

Examples:
  $ kymera cel eval -i pod.yaml 'object.metadata.name'
  $ kymera cel eval -i pod.yaml -c 'object.spec.containers.map(c, c.image)'
  $ kymera cel eval 'quantity("1Gi").isGreaterThan(quantity("1G"))'
  $ cat pod.yaml | kymera cel eval -i - 'has(object.metadata.labels)'`;

const checkExamples = `
Prints the type of each expression, or its problems with position and hint; for a MutatingAdmissionPolicy also the first version
of Kubernetes that has all functions. Exit codes: 0 all are valid; 2 an expression
is invalid or cannot be read.

Examples:
  $ kymera cel check 'object.spec.replicas > 1'
  $ kymera cel check --kind MutatingAdmissionPolicy '[JSONPatch{op: "remove", path: "/spec/nodeName"}]'`;

function kindOption(): Option {
  return new Option('--kind <kind>', 'the kind of policy the expression is for')
    .choices(policyKinds)
    .default('MutatingPolicy');
}

export function defineCel(program: Command, { io, end }: CommandHost): void {
  const cel = program.command('cel').description('Try CEL expressions on a file, and check their types.');

  cel
    .command('eval')
    .description('Evaluate expressions over a YAML or JSON document.')
    .argument('[expression...]', 'expressions; read from standard input when there are none')
    .option(
      '-i, --input <file>',
      'the document, which the expressions read as `object`; `-` is standard input',
    )
    .option('--old <file>', 'the document before an update, `oldObject`')
    .option('--params <file>', 'the parameter of a MutatingAdmissionPolicy, `params`')
    .option('-f, --file <file...>', 'files with one expression each')
    .addOption(kindOption())
    .option('-c, --compact', 'print JSON on one line')
    .option('-u, --unquoted', 'print a string without quotes')
    .option('--no-color', 'print without colours')
    .addHelpText('after', evalExamples)
    .action(async (expressions: string[], options) => {
      const { evaluate } = await import('./eval.ts');
      end(await evaluate(expressions, options, io));
    });

  cel
    .command('check')
    .description('Type-check expressions without evaluating them.')
    .argument('[expression...]', 'expressions; read from standard input when there are none')
    .option('-f, --file <file...>', 'files with one expression each')
    .addOption(kindOption())
    .option('--no-color', 'print without colours')
    .addHelpText('after', checkExamples)
    .action(async (expressions: string[], options) => {
      const { check } = await import('./eval.ts');
      end(await check(expressions, options, io));
    });
}
