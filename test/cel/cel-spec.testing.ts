import { tests as conformance } from '@bufbuild/cel-spec/testdata/conformance.js';
import { bindingsLibrary, encodersLibrary } from '../../src/cel/library/extensions.ts';
import { listsLibrary } from '../../src/cel/library/lists.ts';
import { mathLibrary } from '../../src/cel/library/math.ts';
import { optionalLibrary } from '../../src/cel/library/optional.ts';
import { standardLibrary } from '../../src/cel/library/standard.ts';
import { newestStringsLibrary } from '../../src/cel/library/strings.ts';
import { twoVariableMacros } from '../../src/cel/syntax/macros.ts';
import {
  createEnvironment,
  type Environment,
  type Library,
  type Overload,
} from '../../src/cel/types/environment.ts';
import {
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
  parameterType,
  stringType,
  structType,
  type Type,
  timestampType,
  typeType,
  uintType,
} from '../../src/cel/types/type.ts';
import { integerOf } from '../../src/cel/value/integer.ts';
import { doubleOf } from '../../src/cel/value/kinds.ts';
import { keyIdentity, mapOf } from '../../src/cel/value/map.ts';
import { Bytes, Duration, Timestamp, TypeValue, Uint, type Value } from '../../src/cel/value/value.ts';
import { readDuration } from '../../src/expression/duration.ts';
import { decodeBase64 } from '../../src/expression/functions/base64.ts';
import { parseRfc3339 } from '../../src/expression/go/time.ts';

/** The parts of cel-spec's test format, in protobuf's JSON form, that are used here. */
interface SpecValue {
  readonly nullValue?: unknown;
  readonly boolValue?: boolean;
  readonly int64Value?: string;
  readonly uint64Value?: string;
  readonly doubleValue?: number | string;
  readonly stringValue?: string;
  readonly bytesValue?: string;
  readonly listValue?: { readonly values?: readonly SpecValue[] };
  readonly mapValue?: {
    readonly entries?: readonly { readonly key: SpecValue; readonly value: SpecValue }[];
  };
  readonly typeValue?: string;
  readonly objectValue?: { readonly '@type': string; readonly value: string };
}

interface SpecType {
  readonly primitive?: string;
  readonly wrapper?: string;
  readonly wellKnown?: string;
  readonly dyn?: unknown;
  readonly null?: unknown;
  readonly listType?: { readonly elemType?: SpecType };
  readonly mapType?: { readonly keyType?: SpecType; readonly valueType?: SpecType };
  readonly messageType?: string;
  readonly typeParam?: string;
  readonly type?: SpecType;
  readonly abstractType?: { readonly name: string; readonly parameterTypes?: readonly SpecType[] };
}

interface SpecOverload {
  readonly params?: readonly SpecType[];
  readonly resultType: SpecType;
  readonly isInstanceFunction?: boolean;
  readonly typeParams?: readonly string[];
}

export interface SpecTest {
  readonly name: string;
  readonly expr: string;
  readonly value?: SpecValue;
  readonly evalError?: unknown;
  readonly typedResult?: { readonly result?: SpecValue; readonly deducedType?: SpecType };
  readonly disableCheck?: boolean;
  readonly checkOnly?: boolean;
  readonly container?: string;
  readonly typeEnv?: readonly {
    readonly name: string;
    readonly ident?: { readonly type: SpecType };
    readonly function?: { readonly overloads: readonly SpecOverload[] };
  }[];
  readonly bindings?: Readonly<Record<string, { readonly value: SpecValue }>>;
}

interface SpecSuite {
  readonly name: string;
  readonly suites?: readonly SpecSuite[] | undefined;
  readonly tests?: readonly { readonly original: unknown }[] | undefined;
}

/** All tests by `suite/section/name`. */
export function specTests(): ReadonlyMap<string, SpecTest> {
  const found = new Map<string, SpecTest>();
  const visit = (suite: SpecSuite, path: string): void => {
    for (const { original } of suite.tests ?? []) {
      const test = original as SpecTest;
      found.set(`${path}/${test.name}`, test);
    }
    for (const child of suite.suites ?? []) visit(child, path === '' ? child.name : `${path}/${child.name}`);
  };
  visit(conformance as SpecSuite, '');
  return found;
}

const messageSuites = /^(?:dynamic|enums|proto2|proto2_ext|proto3|wrappers)\//;
const messageWords =
  /TestAllTypes|NestedMessage|google\.protobuf\.\w+\s*\{|GlobalEnum|NestedEnum|"messageType"/;

/** Kubernetes' CEL has no protobuf messages, and neither has ours. */
export function needsProtobuf(path: string, test: SpecTest): boolean {
  if (messageSuites.test(path)) return true;
  return messageWords.test(test.expr) || messageWords.test(JSON.stringify(test));
}

const primitives: Readonly<Record<string, Type>> = {
  BOOL: boolType,
  INT64: intType,
  UINT64: uintType,
  DOUBLE: doubleType,
  STRING: stringType,
  BYTES: bytesType,
};

export function typeOfSpec(spec: SpecType): Type {
  if (spec.primitive !== undefined) return primitives[spec.primitive] ?? dynType;
  if (spec.wrapper !== undefined) return { ...(primitives[spec.wrapper] ?? dynType), nullable: true };
  if (spec.wellKnown === 'TIMESTAMP') return timestampType;
  if (spec.wellKnown === 'DURATION') return durationType;
  if (spec.listType !== undefined) return listType(typeOfSpec(spec.listType.elemType ?? {}));
  if (spec.mapType !== undefined) {
    return mapType(typeOfSpec(spec.mapType.keyType ?? {}), typeOfSpec(spec.mapType.valueType ?? {}));
  }
  if (spec.messageType !== undefined) return structType(spec.messageType);
  if (spec.typeParam !== undefined) return parameterType(spec.typeParam);
  if (spec.type !== undefined) return typeType(typeOfSpec(spec.type));
  if (spec.abstractType !== undefined) {
    return opaqueType(spec.abstractType.name, ...(spec.abstractType.parameterTypes ?? []).map(typeOfSpec));
  }
  return 'null' in spec ? nullType : dynType;
}

export function valueOfSpec(spec: SpecValue): Value {
  if (spec.boolValue !== undefined) return spec.boolValue;
  if (spec.int64Value !== undefined) return integerOf(BigInt(spec.int64Value)) ?? null;
  if (spec.uint64Value !== undefined) return new Uint(BigInt(spec.uint64Value));
  if (spec.doubleValue !== undefined) return doubleOf(Number(spec.doubleValue));
  if (spec.stringValue !== undefined) return spec.stringValue;
  if (spec.bytesValue !== undefined) return new Bytes(decodeBase64(spec.bytesValue));
  if (spec.listValue !== undefined) return (spec.listValue.values ?? []).map(valueOfSpec);
  if (spec.typeValue !== undefined) return new TypeValue(spec.typeValue);
  if (spec.mapValue !== undefined) {
    const entries = (spec.mapValue.entries ?? []).map(
      ({ key, value }) => [valueOfSpec(key), valueOfSpec(value)] as const,
    );
    return mapOf(new Map(entries.map((entry) => [keyIdentity(entry[0]) ?? '', entry])));
  }
  if (spec.objectValue !== undefined) return objectOfSpec(spec.objectValue);
  return null;
}

function objectOfSpec(object: { readonly '@type': string; readonly value: string }): Value {
  const type = object['@type'].slice(object['@type'].lastIndexOf('.') + 1);
  if (type === 'Timestamp') return new Timestamp(parseRfc3339(object.value).nanoseconds);
  if (type === 'Duration') return new Duration(readDuration(object.value) as bigint);
  throw new Error(`unexpected object ${type}`);
}

const libraries: readonly Library[] = [
  standardLibrary,
  optionalLibrary,
  newestStringsLibrary,
  listsLibrary,
  mathLibrary,
  bindingsLibrary,
  encodersLibrary,
  { macros: twoVariableMacros },
];

export function specEnvironment(test: SpecTest): Environment {
  const declared: Library = {
    variables: (test.typeEnv ?? []).flatMap(({ name, ident }) =>
      ident === undefined ? [] : [{ name, type: typeOfSpec(ident.type) }],
    ),
    functions: (test.typeEnv ?? []).flatMap(({ name, function: declaration }) =>
      declaration === undefined ? [] : [{ name, overloads: declaration.overloads.map(overloadOfSpec) }],
    ),
  };
  const unchecked: Library = {
    variables:
      test.disableCheck === true
        ? Object.keys(test.bindings ?? {}).map((name) => ({ name, type: dynType }))
        : [],
  };
  return createEnvironment([...libraries, unchecked, declared], {
    container: test.container,
    homogeneousLiterals: false,
  });
}

function overloadOfSpec(overload: SpecOverload): Overload {
  return {
    member: overload.isInstanceFunction === true,
    parameters: (overload.params ?? []).map(typeOfSpec),
    result: typeOfSpec(overload.resultType),
    typeParameters: overload.typeParams ?? [],
    effects: false,
    call: () => null,
  };
}
