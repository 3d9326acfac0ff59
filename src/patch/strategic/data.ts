import { spendSize } from '../../json/budget.ts';
import type { Json, Path } from '../../json/value.ts';
import type { Reporter } from '../../problem.ts';
import { PatchError } from '../compiled-patch.ts';
import type { StructuredSchema } from '../structured/schema.ts';
import { declaredNode } from './declared.ts';
import type { OverlayNode } from './tree.ts';
import { startBuild } from './tree-build.ts';
import { compileNode } from './tree-compile.ts';

const syntax = { anchors: false, directives: false };

/** The value of a variable as a node to merge. Its keys are data, never anchors or directives. */
export function dataNode(value: Json, path: Path, schema: StructuredSchema | undefined): OverlayNode {
  // A tree of overlay nodes takes ten times the memory of the value.
  spendSize(value);
  return declaredNode(compileNode(value, path, startBuild(path, syntax, throwingReporter)), schema);
}

/** For nodes built at evaluation: the first problem fails the patch. */
const throwingReporter: Reporter = {
  error(path, code, message) {
    throw new PatchError(code, path, message);
  },
  warn() {},
};
