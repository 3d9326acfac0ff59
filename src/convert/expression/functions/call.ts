import { functionTable } from '../../../expression/functions/table.ts';
import type { Term } from '../term.ts';
import { refuse, type Translation } from '../translation.ts';
import { Arguments, type CallNode, type Translate } from './arguments.ts';
import { collectionFunctions } from './collections.ts';
import { encodingFunctions } from './encodings.ts';
import { stringFunctions } from './strings.ts';

const functions: Readonly<Record<string, Translate>> = {
  ...stringFunctions,
  ...collectionFunctions,
  ...encodingFunctions,
};

/** Translates a call of a function. The functions of Kyverno that have no exact counterpart are refused. */
export function translateCall(node: CallNode, translation: Translation): Term {
  const definition = functionTable.get(node.name);
  if (definition === undefined) return refuse(translation, `the function ${node.name}() does not exist`);
  const translate = Object.hasOwn(functions, node.name) ? functions[node.name] : undefined;
  if (translate === undefined) return refuse(translation, `CEL has no function like ${node.name}()`);
  return translate(new Arguments(node, translation));
}
