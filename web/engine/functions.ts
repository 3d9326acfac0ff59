import { functionExample, functionSignature } from '../../src/expression/functions/function-text.ts';
import { functionTable } from '../../src/expression/functions/table.ts';

/** A JMESPath function as the editor describes it. */
export interface FunctionReference {
  readonly name: string;
  /** `truncate(string, number) string`. */
  readonly signature: string;
  readonly description: string;
  readonly example: string;
}

/** All functions. The engine has their descriptions anyway, so the editor asks for them. */
export function functionReferences(): FunctionReference[] {
  return [...functionTable.values()].map((one) => {
    const { expression, result, data } = functionExample(one);
    return {
      name: one.name,
      signature: functionSignature(one),
      description: one.description,
      example: `${expression}\n→ ${result}${data === undefined ? '' : `\nwith ${data}`}`,
    };
  });
}
