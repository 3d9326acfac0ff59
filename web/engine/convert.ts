import {
  convertException,
  exceptionTexts,
  type TranslatedException,
  translateException,
} from '../../src/convert/exceptions.ts';
import {
  convertFile,
  type FilePart,
  joinDocuments,
  type PolicyConversion,
  parseClausePath,
} from '../../src/convert/file.ts';
import { generateObjects } from '../../src/convert/proof/generate-objects.ts';
import { comparer, type Difference, prove, verdictText } from '../../src/convert/proof/prove.ts';
import { defaultUser, type Form, type Sample } from '../../src/convert/proof/sample.ts';
import { webhookGate } from '../../src/convert/proof/webhook-gate.ts';
import type { Conversion, Refusal } from '../../src/convert/types.ts';
import { mergeMembers } from '../../src/json/merge.ts';
import { nameOf } from '../../src/json/metadata.ts';
import type { JsonObject } from '../../src/json/value.ts';
import type { EvaluatorOptions } from '../../src/offline/evaluator.ts';
import { titleOf, withDefaultNamespace } from '../../src/offline/object-identity.ts';
import { celCompilers } from '../../src/policy/cel/language.ts';
import type { CompiledPolicy, Operation } from '../../src/policy/compiled.ts';
import { readDocuments, type SourceFile } from '../../src/policy/documents.ts';
import { loadDocuments } from '../../src/policy/load.ts';
import type { Problem } from '../../src/problem.ts';
import { writeYaml } from '../../src/yaml/writer.ts';
import type {
  ClauseNote,
  Comparison,
  ConvertedFile,
  ConvertRequest,
  FoundDifference,
  ProofState,
} from './conversion.ts';
import { plainLines } from './diff-lines.ts';
import type { EvaluationInput } from './evaluate.ts';

export interface Converter {
  convert(request: ConvertRequest): ConvertedFile;
  compare(object: number): Promise<Comparison | undefined>;
  prove(): Promise<ProofState>;
}

/** Requests between two answers, so that a change of the input does not wait for the whole proof. */
const requestsPerStep = 60;

interface Session {
  readonly old: Form;
  readonly converted: Form;
  /** The first request of each object of the page. */
  readonly chosen: readonly Sample[];
  /** Requests of the page, then generated ones. */
  readonly samples: readonly Sample[];
  state: ProofState;
}

/** Converts policies of the last evaluation, and compares all policies of the file with their new form. */
export function createConverter(last: () => EvaluationInput | undefined): Converter {
  let session: Session | undefined;
  return {
    convert({ file, to, edited }) {
      session = undefined;
      const input = last();
      const at = input?.policies.findIndex(({ name }) => name === file) ?? -1;
      const source = input?.policies[at];
      const load = input?.loads[at];
      if (input === undefined || source === undefined || load === undefined) return nothing;
      const translated = input.policies.flatMap(({ name, text: each }) =>
        readDocuments({ file: name, text: each }).documents.flatMap(
          ({ value }) => translateException(value, to) ?? [],
        ),
      );
      const parts = convertFile({ file, text: source.text }, { to, translated });
      const policies = parts.flatMap(({ policy }) => policy ?? []);
      const written = policies
        .filter(({ conversion }) => conversion.documents.length > 0)
        .map(({ old, conversion }) => ({ name: old.key, conversion }));
      const text = joinDocuments(parts.flatMap((part) => textsOf(part, written)));
      const { setup, resources } = input;
      const converted = loadDocuments(
        [{ file: `${file} (new)`, text: edited ?? text }, ...otherExceptions(translated, parts, written)],
        {
          cel: celCompilers,
        },
      );
      const obstacle = obstacleOf(load.policies, converted.problems);
      if (obstacle === undefined) {
        const requests = resources.map(({ object }) => pageRequests(object, setup));
        const own = requests.flat();
        const generated = generateObjects([...load.policies, ...converted.policies], {
          exceptions: translated.map(({ document }) => document),
        });
        session = {
          old: { policies: load.policies, exceptions: setup.exceptions },
          converted,
          chosen: requests.flatMap(([first]) => first ?? []),
          samples: [...own, ...generated],
          state: { total: own.length + generated.length, own: own.length, compared: 0, changed: 0 },
        };
      }
      return {
        text,
        converted: written.length,
        refusals: policies.flatMap((policy) => notes(policy, policy.conversion.refusals)),
        differences: policies.flatMap((policy) => notes(policy, policy.conversion.differences)),
        obstacle,
        problems: converted.problems,
      };
    },
    async compare(object) {
      const sample = session?.chosen[object];
      if (session === undefined || sample === undefined) return undefined;
      const { old, converted, isSame } = await comparer(session.old, session.converted)(sample);
      const before = writeYaml(sample.object);
      return {
        isSame,
        old: plainLines(before, verdictText(old)),
        converted: plainLines(before, verdictText(converted)),
      };
    },
    async prove() {
      if (session === undefined) return noProof;
      const { old, converted, samples, state } = session;
      const next = samples.slice(state.compared, state.compared + requestsPerStep);
      const { compared, changed, existing, difference } = await prove(old, converted, next);
      session.state = {
        ...state,
        compared: state.compared + compared,
        changed: state.changed + changed,
        existing: existing === undefined ? undefined : (state.existing ?? 0) + existing,
        difference: difference && showDifference(difference),
      };
      return session.state;
    },
  };
}

const nothing: ConvertedFile = {
  text: '',
  converted: 0,
  refusals: [],
  differences: [],
  problems: [],
};
const noProof: ProofState = { total: 0, own: 0, compared: 0, changed: 0 };

interface Written {
  readonly name: string;
  readonly conversion: Conversion;
}

/** A policy that cannot be converted stays. */
function textsOf({ source, policy, exception }: FilePart, written: readonly Written[]): readonly string[] {
  if (exception !== undefined) return exceptionTexts(exception, source, written);
  const documents = policy?.conversion.documents ?? [];
  return documents.length === 0 ? [source] : documents.map(({ text }) => text);
}

/** The converted exceptions of other files. */
function otherExceptions(
  translated: readonly TranslatedException[],
  parts: readonly FilePart[],
  written: readonly Written[],
): readonly SourceFile[] {
  const own = parts.flatMap(({ exception }) => exception?.key ?? []);
  const exempted = written.flatMap(({ conversion }) => conversion.exempted ?? []);
  return translated
    .filter(({ key }) => !own.includes(key))
    .flatMap((exception) => convertException(exception, exempted) ?? [])
    .map(({ text }, index) => ({ file: `exception ${index + 1} (new)`, text }));
}

function obstacleOf(old: readonly CompiledPolicy[], problems: readonly Problem[]): string | undefined {
  if (problems.some(({ severity }) => severity === 'error')) return 'The new policies have errors.';
  if (old.length < 2 || old.every((policy) => webhookGate(policy) === undefined)) return undefined;
  return 'A policy with webhookConfiguration.matchConditions is compared only if it is alone in its file.';
}

/** As the form says, and as if the object were created and updated. */
function pageRequests(given: JsonObject, { values, user, dataSource }: EvaluatorOptions): readonly Sample[] {
  const object = withDefaultNamespace(given);
  const { operation = 'CREATE', oldObject = {} } = values.forObject(undefined, nameOf(object));
  return [...new Set<Operation>([operation, 'CREATE', 'UPDATE'])].map((each) => ({
    origin: titleOf(given),
    object,
    operation: each,
    ...(each === 'CREATE' ? {} : { oldObject: mergeMembers(object, oldObject) }),
    user: user ?? defaultUser,
    // Those of the form are in the data source.
    namespaceLabels: {},
    dataSource,
  }));
}

function notes({ old, place }: PolicyConversion, refusals: readonly Refusal[]): readonly ClauseNote[] {
  return refusals.map(({ rule, path, reason }) => ({
    policy: old.key,
    rule,
    path,
    reason,
    ...place(parseClausePath(path)),
  }));
}

function showDifference({ sample, old, converted, fault }: Difference): FoundDifference {
  const { rule, policy, path, expression, message } = fault;
  return {
    request: `${sample.operation} by ${sample.user?.info.username ?? 'nobody'}, ${sample.origin}`,
    message,
    rule,
    clause: path === undefined ? undefined : `${policy ?? ''} ${path}`,
    expression,
    object: writeYaml(sample.object),
    lines: plainLines(verdictText(old), verdictText(converted)),
  };
}
