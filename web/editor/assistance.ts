import {
  autocompletion,
  type CompletionContext,
  type CompletionResult,
  completionKeymap,
} from '@codemirror/autocomplete';
import type { EditorState, Extension } from '@codemirror/state';
import { hoverTooltip, keymap } from '@codemirror/view';
import { describeAt, type Suggestion, suggestAt } from './suggest.ts';

/** Completion and hover for policies. */
export const assistance: Extension = [
  autocompletion({ override: [complete], icons: false }),
  keymap.of(completionKeymap),
  hoverTooltip((view, position) => {
    const { lines, line, column } = placeOf(view.state, position);
    const found = describeAt(lines, line, column);
    if (found === undefined || found.info === '') return null;
    return { pos: position, create: () => ({ dom: documentation(found, true) }) };
  }),
];

function placeOf(state: EditorState, position: number) {
  const found = state.doc.lineAt(position);
  return { lines: state.doc.toString().split('\n'), line: found.number - 1, column: position - found.from };
}

function complete(context: CompletionContext): CompletionResult | null {
  const { lines, line, column } = placeOf(context.state, context.pos);
  const { typed, list } = suggestAt(lines, line, column);
  if (list.length === 0 || (typed === 0 && !context.explicit)) return null;
  return {
    from: context.pos - typed,
    validFor: /^[\w.+<(-]*$/,
    options: list.map((suggestion) => ({
      label: suggestion.label,
      type: suggestion.kind,
      detail: suggestion.detail ?? '',
      info: () => (suggestion.info === '' ? null : documentation(suggestion, false)),
      ...(suggestion.insert === undefined ? {} : { apply: suggestion.insert }),
    })),
  };
}

/** Text only: descriptions are never parsed as HTML. */
function documentation({ label, detail, info, example }: Suggestion, withTitle: boolean): HTMLElement {
  const box = document.createElement('div');
  box.className = 'doc';
  const add = (tag: string, text: string) => {
    const element = document.createElement(tag);
    element.textContent = text;
    box.append(element);
  };
  if (withTitle) add('code', `${label}${detail ?? ''}`);
  add('div', info);
  if (example !== undefined) add('pre', example);
  return box;
}
