import type { CelCompilers } from '../cel-documents.ts';
import { compileAdmissionPolicy, compileBinding } from './admission-policy.ts';
import { compileCelException } from './exception.ts';
import { compileMutatingPolicy } from './mutating-policy.ts';

/** Everything that CEL policies need, in one module that is loaded on first use. */
export const celCompilers: CelCompilers = {
  compileMutatingPolicy,
  compileAdmissionPolicy,
  compileBinding,
  compileException: compileCelException,
};
