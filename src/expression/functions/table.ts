import { arithmeticFunctions } from './arithmetic.ts';
import { certificateFunctions } from './certificates.ts';
import { collectionFunctions } from './collections.ts';
import { encodingFunctions } from './encoding.ts';
import type { ExpressionFunction, FunctionTable } from './function-signature.ts';
import { matchingFunctions } from './matching.ts';
import { networkFunctions } from './network.ts';
import { numberFunctions } from './numbers.ts';
import { orderingFunctions } from './ordering.ts';
import { randomFunctions } from './random.ts';
import { stringFunctions } from './strings.ts';
import { timeFunctions } from './time.ts';

const functions: readonly ExpressionFunction[] = [
  ...numberFunctions,
  ...stringFunctions,
  ...collectionFunctions,
  ...orderingFunctions,
  ...arithmeticFunctions,
  ...timeFunctions,
  ...matchingFunctions,
  ...encodingFunctions,
  ...networkFunctions,
  ...randomFunctions,
  ...certificateFunctions,
];

/** All functions that an expression can call: JMESPath's and Kyverno's. */
export const functionTable: FunctionTable = new Map(functions.map((entry) => [entry.name, entry]));
