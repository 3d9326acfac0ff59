import {
  type BindNode,
  type CallNode,
  type ComprehensionMacro,
  type ComprehensionNode,
  make,
  type Node,
  type OptMapNode,
  type SelectNode,
} from './ast.ts';
import { CelSyntaxError } from './problem.ts';

/** The macros of an environment, as `name/arguments`. */
export type MacroSet = ReadonlySet<string>;

interface Call {
  readonly name: string;
  readonly target: Node | undefined;
  readonly args: readonly Node[];
  readonly offset: number;
}

type Expand = (call: Call, target: Node) => Node | undefined;

export const standardMacros: readonly string[] = [
  'has/1',
  'all/2',
  'exists/2',
  'exists_one/2',
  'map/2',
  'map/3',
  'filter/2',
];
export const twoVariableMacros: readonly string[] = [
  'all/3',
  'exists/3',
  'existsOne/3',
  'exists_one/3',
  'transformList/3',
  'transformList/4',
  'transformMap/3',
  'transformMap/4',
  'transformMapEntry/3',
  'transformMapEntry/4',
];
export const optionalMacros: readonly string[] = ['optMap/2', 'optFlatMap/2'];

function variableName(node: Node): string {
  if (node.kind === 'ident' && !node.name.startsWith('.')) return node.name;
  throw new CelSyntaxError(
    'argument must be a simple name',
    node.offset,
    'Name the variable of the loop here.',
  );
}

/** A macro over a range: `variables` names, then a condition if one more argument is left, then the body. */
function comprehension(macro: ComprehensionMacro, variables: 1 | 2): Expand {
  return ({ args, offset }, range) => {
    const names = args.slice(0, variables).map(variableName);
    if (names.length === 2 && names[0] === names[1]) {
      throw new CelSyntaxError(`duplicate variable name: ${names[0]}`, args[1]?.offset ?? offset);
    }
    const rest = args.slice(variables);
    const body = rest[rest.length - 1] as Node;
    const condition = rest.length === 2 ? rest[0] : undefined;
    return make<ComprehensionNode>({
      kind: 'comprehension',
      macro,
      range,
      variables: names,
      condition,
      body,
      offset,
    });
  };
}

function optMap(flat: boolean): Expand {
  return ({ args, offset }, target) =>
    make<OptMapNode>({
      kind: 'optMap',
      flat,
      target,
      variable: variableName(args[0] as Node),
      body: args[1] as Node,
      offset,
    });
}

function isName(node: Node, name: string): boolean {
  return node.kind === 'ident' && node.name === name;
}

const bind: Expand = ({ args, offset }, target) => {
  if (!isName(target, 'cel')) return undefined;
  const [variable, value, body] = args as readonly [Node, Node, Node];
  return make<BindNode>({ kind: 'bind', variable: variableName(variable), value, body, offset });
};

/** `math.greatest(a, b, …)` and `math.least(a, b, …)`: one or two arguments as they are, more as a list. */
function extremum(name: string): Expand {
  return ({ args, offset }, target) => {
    if (!isName(target, 'math')) return undefined;
    const spelling = name === '@max' ? 'math.greatest()' : 'math.least()';
    const [first] = args;
    if (first === undefined) {
      throw new CelSyntaxError(`${spelling} requires at least one argument`, target.offset);
    }
    for (const arg of args) checkExtremumArgument(arg, spelling, args.length === 1);
    const list = (): Node =>
      make({ kind: 'list', elements: args.map((value) => ({ value, optional: false })), offset });
    const callArguments = args.length <= 2 ? args : [list()];
    return make<CallNode>({
      kind: 'call',
      name: `math.${name}`,
      target: undefined,
      args: callArguments,
      offset,
    });
  };
}

function checkExtremumArgument(arg: Node, spelling: string, single: boolean): void {
  const isNumber = arg.kind === 'literal' && ['int', 'uint', 'double'].includes(arg.type);
  const isNumbers =
    single &&
    arg.kind === 'list' &&
    arg.elements.length > 0 &&
    arg.elements.every(({ value }) => !isWrongLiteral(value));
  if (isNumber || isNumbers || !isWrongLiteral(arg)) return;
  throw new CelSyntaxError(
    single
      ? `${spelling} invalid single argument value`
      : `${spelling} simple literal arguments must be numeric`,
    arg.offset,
    'Give numbers, or one list of numbers.',
  );
}

function isWrongLiteral(node: Node): boolean {
  if (node.kind === 'literal') return !['int', 'uint', 'double'].includes(node.type);
  return node.kind === 'list' || node.kind === 'map' || node.kind === 'struct';
}

const receiverMacros: ReadonlyMap<string, Expand> = new Map([
  ['all/2', comprehension('all', 1)],
  ['exists/2', comprehension('exists', 1)],
  ['exists_one/2', comprehension('existsOne', 1)],
  ['existsOne/2', comprehension('existsOne', 1)],
  ['map/2', comprehension('map', 1)],
  ['map/3', comprehension('map', 1)],
  ['filter/2', comprehension('filter', 1)],
  ['all/3', comprehension('all', 2)],
  ['exists/3', comprehension('exists', 2)],
  ['existsOne/3', comprehension('existsOne', 2)],
  ['exists_one/3', comprehension('existsOne', 2)],
  ['transformList/3', comprehension('transformList', 2)],
  ['transformList/4', comprehension('transformList', 2)],
  ['transformMap/3', comprehension('transformMap', 2)],
  ['transformMap/4', comprehension('transformMap', 2)],
  ['transformMapEntry/3', comprehension('transformMapEntry', 2)],
  ['transformMapEntry/4', comprehension('transformMapEntry', 2)],
  ['sortBy/2', comprehension('sortBy', 1)],
  ['optMap/2', optMap(false)],
  ['optFlatMap/2', optMap(true)],
  ['bind/3', bind],
  ['greatest/*', extremum('@max')],
  ['least/*', extremum('@min')],
]);

/** What a macro call stands for; undefined when the call is no macro of this environment. */
export function expandMacro(call: Call, macros: MacroSet): Node | undefined {
  const { name, target, args, offset } = call;
  const exact = `${name}/${args.length}`;
  const key = macros.has(exact) ? exact : `${name}/*`;
  if (!macros.has(key)) return undefined;
  if (target === undefined) return key === 'has/1' ? expandHas(args[0] as Node, offset) : undefined;
  return receiverMacros.get(key)?.(call, target);
}

function expandHas(operand: Node, offset: number): Node {
  if (operand.kind === 'select' && operand.mode === 'value') {
    return make<SelectNode>({ ...operand, mode: 'test', offset });
  }
  throw new CelSyntaxError(
    'invalid argument to has() macro',
    operand.offset,
    'has() takes a field selection such as `object.spec`; test a key with `"key" in map`.',
  );
}
