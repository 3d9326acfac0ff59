import { functionExample, functionSignature } from '../src/cli/jp/function-text.ts';
import { type ErrorCode, errorTable } from '../src/errors.ts';
import { functionTable } from '../src/expression/functions/table.ts';
import { documentJsonSchema } from '../src/policy/schema/json-schema.ts';
import { commandPage } from './docs-commands.ts';
import { cookbookPage } from './docs-cookbook.ts';
import { policyPage } from './docs-policy.ts';

/** The generated pages, by path in the repository. A test compares them with what is there. */
export async function docsPages(root: string): Promise<ReadonlyMap<string, string>> {
  return new Map([
    ['docs/reference/cli.md', await commandPage()],
    ['docs/reference/errors.md', errorPage()],
    ['docs/reference/functions.md', functionPage()],
    ['docs/reference/policy.md', policyPage(root)],
    ['docs/cookbook.md', await cookbookPage(root)],
    ['schemas/policy.schema.json', `${JSON.stringify(documentJsonSchema(), null, 2)}\n`],
  ]);
}

const generated = '<!-- Written by `npm run docs`: change the sources, not this page. -->';

function errorPage(): string {
  const codes = (Object.keys(errorTable) as ErrorCode[]).sort();
  const sections = codes.map((code) => {
    const { cause, cure } = errorTable[code];
    return `## ${code}\n\n${cause}\n\n**Cure:** ${cure}\n`;
  });
  return `${generated}

# Problem codes

Every message carries a code in brackets. A code keeps its meaning from version to version, so that scripts and reports can rely on it.
\`kymera validate\` shows the place of a problem in the file, and a hint for the case at hand.

${sections.join('\n')}`;
}

function functionPage(): string {
  const functions = [...functionTable.values()].sort((a, b) => (a.name < b.name ? -1 : 1));
  const sections = functions.map((entry) => {
    const { expression, result, data } = functionExample(entry);
    const over = data === undefined ? '' : `over   ${data}\n`;
    const volatile = entry.volatile === true ? ' Depends on more than its arguments.' : '';
    return `## ${entry.name}

\`${functionSignature(entry)}\`

${entry.description}${volatile}

\`\`\`
${expression}
${over}gives  ${result}
\`\`\`
`;
  });
  return `${generated}

# Functions of expressions

What an expression (JMESPath) in a policy can call: the functions of JMESPath itself and those of Kyverno. The tests evaluate every example on this page.
On the command line \`kymera jp functions\` lists them, and \`kymera jp query\` tries an expression on a file.

A type \`string|number\` takes either; \`...\` takes one or more. Numbers stand in backticks, texts in single quotes.

${sections.join('\n')}`;
}
