import {
  anyType,
  boolType,
  bytesType,
  doubleType,
  durationType,
  dynType,
  intType,
  listType,
  mapType,
  nullType,
  opaqueType,
  optionalType,
  parameterType,
  stringType,
  structType,
  type Type,
  timestampType,
  typeType,
  uintType,
} from './type.ts';

export interface Signature {
  readonly member: boolean;
  readonly parameters: readonly Type[];
  readonly result: Type;
  readonly typeParameters: readonly string[];
}

const namedTypes: ReadonlyMap<string, Type> = new Map([
  ['dyn', dynType],
  ['any', anyType],
  ['null', nullType],
  ['bool', boolType],
  ['int', intType],
  ['uint', uintType],
  ['double', doubleType],
  ['string', stringType],
  ['bytes', bytesType],
  ['timestamp', timestampType],
  ['duration', durationType],
  ['list', listType(dynType)],
  ['map', mapType(dynType, dynType)],
  ['type', typeType()],
]);

/**
 * Reads a signature: `(int, int) -> int`, or with a receiver `list(T).(int) -> T`. One capital letter is a type
 * parameter, `struct NAME` a struct type, and an unknown name an opaque type.
 */
export function parseSignature(text: string): Signature {
  const arrow = text.lastIndexOf(' -> ');
  const close = text.lastIndexOf(')', arrow);
  const receiverEnd = text.startsWith('(') ? -1 : text.indexOf('.(');
  const receiver = receiverEnd < 0 ? [] : [parseType(text.slice(0, receiverEnd))];
  const args = splitTypes(text.slice(receiverEnd < 0 ? 1 : receiverEnd + 2, close)).map(parseType);
  const parameters = [...receiver, ...args];
  const result = parseType(text.slice(arrow + 4));
  const names = new Set<string>();
  for (const type of [...parameters, result]) collectParameters(type, names);
  return { member: receiverEnd >= 0, parameters, result, typeParameters: [...names] };
}

export function parseType(text: string): Type {
  const name = text.trim();
  if (name.startsWith('struct ')) return structType(name.slice(7));
  const open = name.indexOf('(');
  if (open < 0) {
    if (/^[A-Z]$/.test(name)) return parameterType(name);
    return namedTypes.get(name) ?? opaqueType(name);
  }
  const [first = dynType, second = dynType] = splitTypes(name.slice(open + 1, -1)).map(parseType);
  switch (name.slice(0, open)) {
    case 'list':
      return listType(first);
    case 'map':
      return mapType(first, second);
    case 'type':
      return typeType(first);
    default:
      return optionalType(first);
  }
}

/** Splits at commas outside of parentheses. */
function splitTypes(text: string): readonly string[] {
  const parts: string[] = [];
  let depth = 0;
  let start = 0;
  for (let index = 0; index < text.length; index++) {
    const character = text[index];
    if (character === '(') depth++;
    else if (character === ')') depth--;
    else if (character === ',' && depth === 0) {
      parts.push(text.slice(start, index));
      start = index + 1;
    }
  }
  const last = text.slice(start);
  return last.trim() === '' ? parts : [...parts, last];
}

function collectParameters(type: Type, names: Set<string>): void {
  if (type.kind === 'parameter') names.add(type.name);
  for (const parameter of type.parameters) collectParameters(parameter, names);
}
