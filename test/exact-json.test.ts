import { join } from 'node:path';
import ts from 'typescript';
import { expect, it } from 'vitest';

const root = join(import.meta.dirname, '..');

/**
 * Documents contain integers beyond 2^53 as bigints, for which `JSON.stringify` throws. Values that may hold one are printed by
 * `stringifyJson`.
 */
it('no document value is printed by JSON.stringify', { timeout: 300_000 }, () => {
  const { config } = ts.readConfigFile(join(root, 'tsconfig.json'), ts.sys.readFile);
  const { options, fileNames } = ts.parseJsonConfigFileContent(config, ts.sys, root);
  const sources = fileNames.filter((file) => isSource(file.slice(root.length + 1)));
  expect(sources.length).toBeGreaterThan(500);
  const program = ts.createProgram(sources, { ...options, noEmit: true });
  const checker = program.getTypeChecker();
  const found = sources.flatMap((file) => {
    const source = program.getSourceFile(file);
    return source === undefined ? [] : callsIn(source, checker);
  });
  expect(found).toEqual([]);
});

function isSource(path: string): boolean {
  return path.startsWith('src/') && path !== 'src/json/json-text.ts' && !/\.(test|testing)\.ts$/.test(path);
}

function callsIn(source: ts.SourceFile, checker: ts.TypeChecker): readonly string[] {
  const found: string[] = [];
  const visit = (node: ts.Node): void => {
    if (ts.isCallExpression(node) && node.expression.getText(source) === 'JSON.stringify') {
      const [argument] = node.arguments;
      if (argument !== undefined && mayHoldBigint(checker.getTypeAtLocation(argument), checker)) {
        const { line } = source.getLineAndCharacterOfPosition(node.getStart(source));
        found.push(`${source.fileName.slice(root.length + 1)}:${line + 1}: ${node.getText(source)}`);
      }
    }
    ts.forEachChild(node, visit);
  };
  visit(source);
  return found;
}

/** Deeper members belong to objects that no code builds by hand. */
const deepest = 6;

function mayHoldBigint(
  type: ts.Type,
  checker: ts.TypeChecker,
  seen: Set<ts.Type> = new Set(),
  depth = 0,
): boolean {
  if ((type.flags & (ts.TypeFlags.BigIntLike | ts.TypeFlags.Any | ts.TypeFlags.Unknown)) !== 0) return true;
  if (depth > deepest || seen.has(type)) return false;
  seen.add(type);
  const holds = (inner: ts.Type) => mayHoldBigint(inner, checker, seen, depth + 1);
  if (type.isUnionOrIntersection()) return type.types.some(holds);
  if ((type.flags & ts.TypeFlags.Object) === 0) return false;
  if (type.getCallSignatures().length > 0) return false;
  const items = checker.getIndexTypeOfType(type, ts.IndexKind.Number);
  if (items !== undefined) return holds(items);
  const members = checker.getIndexTypeOfType(type, ts.IndexKind.String);
  if (members !== undefined && holds(members)) return true;
  return type.getProperties().some((property) => holds(checker.getTypeOfSymbol(property)));
}
