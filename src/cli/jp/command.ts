import type { Command } from 'commander';
import type { CommandHost } from '../io.ts';

const queryExamples = `
Expressions are written as in policies, with or without {{ }}. With several expressions or documents, each
result is printed below its expression. Exit codes: 0 success; 1 the evaluation failed; 2 an expression
or the input is invalid.

Examples:
  $ kymera jp query -i pod.yaml 'metadata.name'
  $ kymera jp query -i pod.yaml -u 'spec.containers[0].image'
  $ kymera jp query -i pod.yaml -q query.txt -c
  $ cat pod.yaml | kymera jp query 'to_upper(kind)'`;

const parseExamples = `
Examples:
  $ kymera jp parse 'spec.containers[?tty].name'
  $ kymera jp parse -f query.txt`;

const functionsExamples = `
Examples:
  $ kymera jp functions
  $ kymera jp functions truncate 'time_*'`;

/** Commands and flags have the same names as in Kyverno's command line. */
export function defineJp(program: Command, { io, end }: CommandHost): void {
  const jp = program.command('jp').description('Evaluate JMESPath expressions and list the functions.');

  jp.command('query')
    .description('Evaluate expressions over a YAML or JSON document.')
    .argument('[expression...]', 'expressions (default: read from standard input)')
    .option('-i, --input <file>', 'the document (default: standard input)')
    .option('-q, --query <file...>', 'files with one expression each')
    .option('-c, --compact', 'print JSON on one line')
    .option('-u, --unquoted', 'print a string without quotes')
    .option('--no-color', 'print without colors')
    .addHelpText('after', queryExamples)
    .action(async (expressions: string[], options) => {
      const { query } = await import('./query.ts');
      end(await query(expressions, options, io));
    });

  jp.command('parse')
    .description('Print the syntax tree of expressions.')
    .argument('[expression...]', 'expressions (default: read from standard input)')
    .option('-f, --file <file...>', 'files with one expression each')
    .option('--no-color', 'print without colors')
    .addHelpText('after', parseExamples)
    .action(async (expressions: string[], options) => {
      const { parse } = await import('./parse.ts');
      end(await parse(expressions, options, io));
    });

  jp.command('functions')
    .alias('function')
    .description('List the functions with examples.')
    .argument('[name...]', 'names of functions, with wildcards')
    .option('--no-color', 'print without colors')
    .addHelpText('after', functionsExamples)
    .action(async (names: string[], options) => {
      const { functions } = await import('./functions.ts');
      end(await functions(names, options, io));
    });
}
