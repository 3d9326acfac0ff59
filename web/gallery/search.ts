import type { Example } from './example.ts';

/** Examples that contain every word of the query; those with the words in the title come first. */
export function searchExamples(examples: readonly Example[], query: string): Example[] {
  const words = query
    .toLowerCase()
    .split(/\s+/)
    .filter((word) => word !== '');
  const rank = (example: Example) => {
    const title = `${example.title} ${example.id}`.toLowerCase();
    if (words.every((word) => title.includes(word))) return 0;
    const all = `${title} ${example.description} ${textOf(example)}`.toLowerCase();
    return words.every((word) => all.includes(word)) ? 1 : undefined;
  };
  return examples
    .map((example) => ({ example, rank: rank(example) }))
    .filter((entry) => entry.rank !== undefined)
    .sort((left, right) => (left.rank ?? 0) - (right.rank ?? 0))
    .map(({ example }) => example);
}

function textOf({ workspace }: Example): string {
  const { policies, resources = [], files = [] } = workspace;
  return [...policies, ...resources, ...files].map(({ text }) => text).join('\n');
}
