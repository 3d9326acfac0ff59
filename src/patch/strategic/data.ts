import type { Json, Path } from '../../json/value.ts';
import type { Reporter } from '../../problem.ts';
import { PatchError } from '../compiled-patch.ts';
import type { OverlayNode } from './tree.ts';
import { startBuild } from './tree-build.ts';
import { compileNode } from './tree-compile.ts';

const syntax = { anchors: false, directives: false };

/** What a variable yielded, as a node to merge: every key in it is a member, whatever it looks like. */
export function dataNode(value: Json, path: Path): OverlayNode {
  return compileNode(value, path, startBuild(path, syntax, throwingReporter));
}

/** For what is read while a patch is being applied: the first problem ends it. */
const throwingReporter: Reporter = {
  error(path, code, message) {
    throw new PatchError(code, path, message);
  },
  warn() {},
};
