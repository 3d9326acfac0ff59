import type { Diagnostic } from '@codemirror/lint';
import type { Text } from '@codemirror/state';
import type { EditorView } from '@codemirror/view';
import type { SourceProblem } from '../engine/evaluation.ts';

/** Problems as underlined ranges, with the hint and a quick fix. */
export function diagnosticsOf(problems: readonly SourceProblem[], doc: Text): Diagnostic[] {
  return problems.map((problem) => {
    const { from, to } = rangeOf(problem, doc);
    const where = problem.rule === undefined ? '' : `rule ${problem.rule}: `;
    const hint = problem.hint === undefined ? '' : `\n${problem.hint}`;
    const fix = problem.fix === undefined ? undefined : fixRange(problem.fix.find, from, doc);
    return {
      from,
      to,
      severity: problem.severity,
      source: problem.code,
      message: `${where}${problem.message}${hint}`,
      ...(fix === undefined || problem.fix === undefined
        ? {}
        : { actions: [replaceAction(problem.fix.find, problem.fix.replace)] }),
    };
  });
}

function replaceAction(find: string, replace: string) {
  return {
    name: `Change to ${replace}`,
    // The text may have moved since the problem was found.
    apply(view: EditorView, from: number) {
      const at = fixRange(find, from, view.state.doc);
      if (at !== undefined) view.dispatch({ changes: { from: at, to: at + find.length, insert: replace } });
    },
  };
}

/** The misspelled word is at the position of the problem, or in the value that begins there. */
function fixRange(find: string, from: number, doc: Text): number | undefined {
  const near = doc.sliceString(from, from + 2_000);
  const at = near.indexOf(find);
  return at < 0 ? undefined : from + at;
}

/** From the position of the problem to the end of the key or value there. */
function rangeOf({ line = 1, column = 1 }: SourceProblem, doc: Text): { from: number; to: number } {
  const found = doc.line(Math.min(Math.max(line, 1), doc.lines));
  const from = Math.min(found.from + column - 1, found.to);
  const rest = found.text.slice(from - found.from);
  const word = /^(?:"[^"]*"|'[^']*'|[^\s:]+(?::(?=\S)[^\s:]*)*)/.exec(rest)?.[0] ?? rest;
  const to = from + Math.max(word.length, 1);
  return { from: Math.min(from, doc.length), to: Math.min(to, doc.length) };
}
