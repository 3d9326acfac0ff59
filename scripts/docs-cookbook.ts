import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'yaml';
import { run } from '../src/cli/program.ts';
import { headingAnchor } from './heading-anchor.ts';

interface Recipe {
  readonly name: string;
  readonly title: string;
  readonly description: string;
  readonly policy: string;
  readonly difference: string;
}

const folder = 'docs/cookbook';

/** The cookbook, from the policies of docs/cookbook and what they make of their objects. */
export async function cookbookPage(root: string): Promise<string> {
  const names = readdirSync(join(root, folder), { withFileTypes: true })
    .filter((entry) => entry.isDirectory())
    .map((entry) => entry.name)
    .sort();
  const recipes: Recipe[] = [];
  for (const name of names) recipes.push(await readRecipe(root, name));
  return `<!-- Written by \`npm run docs\` from the folders of docs/cookbook: change those, not this page. -->

# Cookbook

${recipes.length} policies to start from. Each has a folder with the policy, an object, and a test: \`kymera test docs/cookbook\` runs them all. Below each stands what it
changes, as \`kymera apply\` shows it.

${recipes.map(({ title }) => `- [${title}](#${headingAnchor(title)})`).join('\n')}

${recipes.map(sectionOf).join('\n')}`;
}

async function readRecipe(root: string, name: string): Promise<Recipe> {
  const policy = readFileSync(join(root, folder, name, 'policy.yaml'), 'utf8');
  const annotations = (parse(policy) as { metadata: { annotations: Record<string, string> } }).metadata
    .annotations;
  return {
    name,
    title: annotations['policies.kyverno.io/title'] ?? name,
    description: annotations['policies.kyverno.io/description'] ?? '',
    policy,
    difference: await differenceOf(root, name),
  };
}

async function differenceOf(root: string, name: string): Promise<string> {
  const context = existsSync(join(root, folder, name, 'context.yaml'))
    ? ['--target-resource', 'context.yaml']
    : [];
  const printed: string[] = [];
  const complaints: string[] = [];
  const code = await run(['apply', 'policy.yaml', '-r', 'object.yaml', ...context, '--quiet'], {
    stdin: nothing(),
    stdout: { isTTY: false, write: (text) => void printed.push(String(text)) },
    stderr: { isTTY: false, write: (text) => void complaints.push(String(text)) },
    cwd: join(root, folder, name),
    env: {},
  });
  if (code !== 0 || complaints.length > 0 || printed.length === 0) {
    throw new Error(`${folder}/${name}: ${complaints.join('') || 'changes nothing'}`);
  }
  return printed.join('');
}

function sectionOf({ name, title, description, policy, difference }: Recipe): string {
  return `## ${title}

${description}

\`\`\`yaml
${withoutNotes(policy)}\`\`\`

\`\`\`diff
${difference}\`\`\`

[Files](cookbook/${name})
`;
}

/** The title and the description stand above the policy already. */
function withoutNotes(policy: string): string {
  return policy
    .replace(/^ {4}policies\.kyverno\.io\/(title|description):.*\n(?: {6}.*\n)*/gm, '')
    .replace(/^ {2}annotations:\n(?! {4})/m, '');
}

async function* nothing(): AsyncGenerator<string> {}
