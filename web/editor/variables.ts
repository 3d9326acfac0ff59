import { variables } from './reference.ts';
import { placeAt } from './yaml-path.ts';

export interface Variable {
  readonly name: string;
  readonly text: string;
}

/** The variables at a line: those of the request, context entries of the rule above it, and those of loops. */
export function variablesAt(lines: readonly string[], line: number): Variable[] {
  const found: Variable[] = [...variables];
  let contextIndent: number | undefined;
  let isInLoop = false;
  for (let at = ruleAbove(lines, line); at <= line; at++) {
    const text = lines[at] ?? '';
    const indent = text.search(/\S/);
    if (indent < 0) continue;
    if (contextIndent !== undefined && indent < contextIndent) contextIndent = undefined;
    if (/^\s*context:\s*$/.test(text)) contextIndent = indent;
    if (/^\s*(?:- )?foreach:/.test(text)) isInLoop = true;
    const name = /^\s*- +name:\s*["']?([\w-]+)/.exec(text)?.[1];
    if (contextIndent !== undefined && name !== undefined) {
      found.push({ name, text: 'A context entry of this rule.' });
    }
  }
  if (isInLoop) {
    found.push({ name: 'element', text: 'The current element of the loop.' });
    found.push({ name: 'elementIndex', text: 'Its index, from 0.' });
  }
  return found;
}

/** The line that begins the rule. */
function ruleAbove(lines: readonly string[], line: number): number {
  for (let at = line; at > 0; at--) {
    const dash = /^\s*- +/.exec(lines[at] ?? '')?.[0];
    if (dash !== undefined && placeAt(lines, at, dash.length).path.slice(-2).join() === 'rules,-') return at;
  }
  return 0;
}
