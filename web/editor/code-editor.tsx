import { closeBrackets, closeBracketsKeymap } from '@codemirror/autocomplete';
import { defaultKeymap, history, historyKeymap, indentWithTab } from '@codemirror/commands';
import { yaml } from '@codemirror/lang-yaml';
import {
  bracketMatching,
  foldGutter,
  foldKeymap,
  indentOnInput,
  indentUnit,
  syntaxHighlighting,
} from '@codemirror/language';
import { lintKeymap, setDiagnostics } from '@codemirror/lint';
import { highlightSelectionMatches, searchKeymap } from '@codemirror/search';
import { Compartment, EditorState, type Extension } from '@codemirror/state';
import {
  drawSelection,
  EditorView,
  highlightActiveLine,
  highlightActiveLineGutter,
  keymap,
  lineNumbers,
} from '@codemirror/view';
import { useEffect, useLayoutEffect, useRef } from 'preact/hooks';
import type { SourceProblem } from '../engine/evaluation.ts';
import type { EditorRole } from '../engine/workspace.ts';
import { editSource, jump, loadedTexts, workspace } from '../state/playground.ts';
import { diagnosticsOf } from './diagnostics.ts';
import { editorTheme, yamlHighlighting } from './theme.ts';

/** Matches the nonce of style-src in index.html. */
const styleNonce = 'kymera-editor';

interface Props {
  readonly role: EditorRole;
  readonly index: number;
  readonly problems: readonly SourceProblem[];
}

/** Completion and hover, which are loaded after the first render. */
const assistance = new Compartment();
let loadedAssistance: Extension = [];

/** One editor for all tabs of a pane. Each tab keeps its own undo history. */
export function CodeEditor({ role, index, problems }: Props) {
  const host = useRef<HTMLDivElement>(null);
  const view = useRef<EditorView | undefined>(undefined);
  const current = useRef({ name: '', index });
  const states = useRef(new Map<string, EditorState>());
  const source = workspace.value[role][index];
  const loaded = loadedTexts.value;
  const target = jump.value;

  useEffect(() => {
    if (host.current === null) return;
    // The first state mounts styles, too.
    const created = new EditorView({ parent: host.current, extensions: EditorView.cspNonce.of(styleNonce) });
    view.current = created;
    void import('./assistance.ts').then(({ assistance: found }) => {
      loadedAssistance = found;
      created.dispatch({ effects: assistance.reconfigure(found) });
      states.current.clear();
    });
    return () => created.destroy();
  }, []);

  // Another tab, or a text that did not come from this editor.
  useEffect(() => {
    const editor = view.current;
    if (editor === undefined || source === undefined) return;
    if (current.current.name !== '') states.current.set(current.current.name, editor.state);
    const known = states.current.get(source.name);
    const state =
      known?.doc.toString() === source.text
        ? known
        : createState(source.text, labels[role], (text) => editSource(role, current.current.index, text));
    current.current = { name: source.name, index };
    if (editor.state !== state) editor.setState(state);
  }, [role, index, source?.name, loaded]);

  useEffect(() => {
    const editor = view.current;
    if (editor === undefined || source === undefined) return;
    const own = problems.filter((problem) => problem.role === role && problem.file === source.name);
    editor.dispatch(setDiagnostics(editor.state, diagnosticsOf(own, editor.state.doc)));
  }, [problems, role, source?.name, loaded]);

  useEffect(() => {
    const editor = view.current;
    if (editor === undefined || target === undefined) return;
    if (target.role !== role || target.file !== source?.name) return;
    jump.value = undefined;
    const line = editor.state.doc.line(Math.min(Math.max(target.line, 1), editor.state.doc.lines));
    const anchor = Math.min(line.from + target.column - 1, line.to);
    editor.dispatch({
      selection: { anchor },
      effects: EditorView.scrollIntoView(anchor, { y: 'center' }),
    });
    editor.focus();
  }, [target, role, source?.name]);

  return <div class="editor" ref={host} />;
}

interface TextEditorProps {
  readonly text: string;
  readonly label: string;
  readonly problems?: readonly SourceProblem[] | undefined;
  /** Not a policy: no completion. */
  readonly isData?: boolean | undefined;
  onChange(text: string): void;
}

const noProblems: readonly SourceProblem[] = [];

/** An editor for a text that is not one of the sources. */
export function TextEditor({ text, label, problems = noProblems, isData, onChange }: TextEditorProps) {
  const host = useRef<HTMLDivElement>(null);
  const view = useRef<EditorView | undefined>(undefined);
  const change = useRef(onChange);
  change.current = onChange;
  const state = () => createState(text, label, (typed) => change.current(typed), isData);
  useEffect(() => {
    if (host.current === null) return;
    const created = new EditorView({ parent: host.current, state: state() });
    view.current = created;
    return () => created.destroy();
  }, []);
  // Right after the render: a later effect could see what was typed since, and take it back.
  useLayoutEffect(() => {
    // What the user types is already there.
    if (view.current?.state.doc.toString() !== text) view.current?.setState(state());
  }, [text]);
  useEffect(() => {
    const editor = view.current;
    editor?.dispatch(setDiagnostics(editor.state, diagnosticsOf(problems, editor.state.doc)));
  }, [problems, text]);
  return <div class="editor" ref={host} />;
}

const labels: Readonly<Record<EditorRole, string>> = {
  policies: 'Policy source',
  resources: 'Object source',
  files: 'File source',
};

function createState(
  text: string,
  label: string,
  onChange: (text: string) => void,
  isData = false,
): EditorState {
  return EditorState.create({
    doc: text,
    extensions: [
      EditorView.cspNonce.of(styleNonce),
      lineNumbers(),
      foldGutter(),
      history(),
      drawSelection(),
      indentOnInput(),
      indentUnit.of('  '),
      bracketMatching(),
      closeBrackets(),
      highlightActiveLine(),
      highlightActiveLineGutter(),
      highlightSelectionMatches(),
      yaml(),
      syntaxHighlighting(yamlHighlighting),
      editorTheme,
      isData ? [] : assistance.of(loadedAssistance),
      // Escape, then Tab leaves the editor.
      keymap.of([
        ...closeBracketsKeymap,
        ...lintKeymap,
        ...searchKeymap,
        ...historyKeymap,
        ...foldKeymap,
        ...defaultKeymap,
        indentWithTab,
      ]),
      EditorView.contentAttributes.of({
        'aria-label': label,
        spellcheck: 'false',
        // Browsers focus an editable element without it, but accessibility tools do not know.
        tabindex: '0',
      }),
      EditorView.updateListener.of((change) => {
        if (change.docChanged) onChange(change.state.doc.toString());
      }),
    ],
  });
}
