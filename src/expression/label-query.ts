/** Tests labels against `a=b,c!=d,e,!f,g in (h,i)`. Undefined when the selector is invalid. */
export function parseLabelQuery(
  selector: string,
): ((labels: Readonly<Record<string, unknown>>) => boolean) | undefined {
  const requirements = selector.match(/[^,(]+(?:\([^)]*\))?/g) ?? [];
  const tests: ((labels: Readonly<Record<string, unknown>>) => boolean)[] = [];
  for (const requirement of requirements) {
    const test = parseRequirement(requirement.trim());
    if (test === undefined) return undefined;
    tests.push(test);
  }
  return (labels) => tests.every((test) => test(labels));
}

function parseRequirement(
  text: string,
): ((labels: Readonly<Record<string, unknown>>) => boolean) | undefined {
  const match = /^(!)?([\w./-]+)(?:\s*(==|=|!=)\s*([\w.-]*)|\s+(in|notin)\s*\(([^)]*)\))?$/.exec(text);
  if (match === null) return undefined;
  const [, absent, key = '', operator, value, setOperator, set] = match;
  const read = (labels: Readonly<Record<string, unknown>>) =>
    Object.hasOwn(labels, key) ? labels[key] : undefined;
  if (operator !== undefined) return (labels) => (read(labels) === value) === (operator !== '!=');
  if (setOperator !== undefined) {
    const values = new Set<unknown>((set ?? '').split(',').map((item) => item.trim()));
    return (labels) => values.has(read(labels)) === (setOperator === 'in');
  }
  return (labels) => (read(labels) === undefined) === (absent !== undefined);
}
