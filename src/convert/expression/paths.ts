import type { BoundText, Node, PathStep } from '../../expression/jmespath/ast.ts';
import { literal, primary } from './cel-text.ts';
import { rootTerm } from './roots.ts';
import { classOf, definite, optionalTerm, selectField, selectIndex, type Term } from './term.ts';
import { concatenate, nullOf, printed, refuse, type Translation } from './translation.ts';

/** A path from a value, from the current value, or from the variables of the rule. */
export function translatePath(
  head: Node | undefined,
  steps: readonly PathStep[],
  translation: Translation,
): Term {
  if (head !== undefined) return walk(translation.translate(head, translation), steps, translation);
  const { current } = translation;
  if (current !== undefined) return walk(current, steps, translation);
  const fixed = steps.slice(0, 3).filter((step): step is string | number => typeof step !== 'object');
  const { term, used } = rootTerm(fixed, translation.path, translation.scope);
  return walk(term, steps.slice(used), translation);
}

function walk(start: Term, steps: readonly PathStep[], translation: Translation): Term {
  let term = start;
  for (const step of steps) {
    const kind = classOf(term);
    if (typeof step === 'number') {
      if (kind !== 'list' && kind !== 'unknown') return nullOf([term], translation);
      term =
        selectIndex(term, step) ?? refuse(translation, `CEL has no index ${step} from the end of a list`);
    } else {
      if (kind !== 'map' && kind !== 'unknown') return nullOf([term], translation);
      term =
        typeof step === 'string'
          ? selectField(term, step)
          : selectComputed(term, boundText(step, translation));
    }
  }
  return term;
}

/** `parent."{{ name }}"`. */
function selectComputed(parent: Term, key: Term): Term {
  const schema = parent.schema?.kind === 'map' ? parent.schema.field('') : undefined;
  const base = parent.optional ?? primary(parent);
  return optionalTerm(
    `${base}[?${key.source}]`,
    `${primary(parent)}[${key.source}]`,
    parent.missing === 'null' ? 'null' : 'error',
    { schema },
  );
}

/** Text with variables in it. */
export function boundText({ parts }: BoundText, translation: Translation): Term {
  const texts = parts.map((part) =>
    typeof part === 'string'
      ? definite(literal(part, translation.path))
      : printed(variableAt(part, translation), translation),
  );
  return concatenate(texts);
}

function variableAt(index: number, translation: Translation): Term {
  return translation.variables[index] ?? refuse(translation, 'a nested variable is unknown');
}
