import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';
import { parseAllDocuments } from 'yaml';
import { isArray, isObject, type Json, type JsonObject, member } from '../../src/json/value.ts';
import { findCorpus, readCorpus } from '../../test/conformance/kyverno-corpus.ts';
import { type Background, startInBackground } from '../background.ts';
import { suite } from '../suite.ts';
import { patienceFlag, waitFor } from '../wait-for.ts';

interface Step {
  readonly op: string;
  readonly files?: readonly string[];
  readonly names?: readonly string[];
  readonly ref?: { readonly kind: string; readonly name: string };
  readonly expectError?: boolean;
}

interface Case {
  readonly id: string;
  readonly folder: string;
  readonly steps?: readonly Step[];
  readonly results: readonly { readonly target?: string }[];
}

const everything: JsonObject = { apiGroups: ['*'], resources: ['*'], verbs: ['*'] };
const root = fileURLToPath(new URL('../..', import.meta.url));

suite('conformance of rules for existing objects', ({ settings, kubectl, before, after }) => {
  const corpus = findCorpus(root);
  if (corpus === undefined) {
    it('of the corpus', (context) =>
      context.skip('the corpus is not here: set KYMERA_CONFORMANCE to its folder'));
    return;
  }
  let background: Background;
  const namespaces = new Set<string>();
  before(async () => {
    background = await startInBackground(settings, { rules: [everything], args: ['--ttl', '2'] });
  });
  after(async () => {
    await background.uninstall();
    if (namespaces.size > 0)
      await kubectl.run(['delete', 'namespace', ...namespaces, '--wait=false', '--ignore-not-found']);
  });

  const documentsOf = ({ folder }: Case, file: string): JsonObject[] =>
    parseAllDocuments(readFileSync(join(folder, file), 'utf8')).map(
      (document) => document.toJS() as JsonObject,
    );
  /** kubectl in the namespace that an object says it is in. */
  const of = ({ metadata }: JsonObject) => {
    const own = (metadata as JsonObject | undefined)?.['namespace'];
    return typeof own === 'string' ? kubectl.with(`--namespace=${own}`) : kubectl;
  };
  const nameOf = (object: JsonObject) => String((object['metadata'] as JsonObject | undefined)?.['name']);
  const stored = async (object: JsonObject): Promise<JsonObject> => {
    const { apiVersion, kind, metadata } = object as {
      apiVersion: string;
      kind: string;
      metadata: JsonObject;
    };
    const [group = '', version] = apiVersion.includes('/') ? apiVersion.split('/') : ['', apiVersion];
    const type = group === '' ? kind : `${kind}.${version}.${group}`;
    const text = await of(object).ok('get', type, String(metadata['name']), '-o', 'json');
    return JSON.parse(text) as JsonObject;
  };

  async function apply(verb: string, documents: readonly JsonObject[]): Promise<void> {
    for (const document of documents) {
      if (document['kind'] !== 'Namespace') continue;
      namespaces.add(nameOf(document));
      await waitFor(
        async () => {
          const { code, stdout } = await kubectl.run([
            'get',
            'namespace',
            nameOf(document),
            '-o',
            'jsonpath={.status.phase}',
          ]);
          return code !== 0 || stdout !== 'Terminating';
        },
        { what: `namespace ${nameOf(document)} of another case to be gone` },
      );
    }
    for (const document of documents) {
      await of(document).sendOk(document['kind'] === 'Namespace' ? 'apply' : verb, document);
    }
  }

  /** What a step of the case does here; a reason when only its own script could do it. */
  async function run(one: Case, step: Step, made: JsonObject[]): Promise<string | undefined> {
    const documents = (step.files ?? []).flatMap((file) => documentsOf(one, file));
    switch (step.op) {
      case 'apply':
      case 'create':
        made.push(...documents);
        await apply('apply', documents);
        return undefined;
      case 'policy-ready':
        for (const name of step.names ?? [])
          await kubectl.ok(
            'wait',
            '--for=condition=Ready',
            `clusterpolicies.kyverno.io/${name}`,
            patienceFlag,
          );
        return undefined;
      case 'assert':
        for (const wanted of documents)
          await waitFor(async () => isPart(wanted, await stored(wanted)), {
            what: `${one.id}: ${step.files?.join()}: ${JSON.stringify(wanted)}`,
            everyMs: 200,
          });
        return undefined;
      case 'error':
        await sleep(1_000);
        await background.settled();
        for (const unwanted of documents) {
          const found = await stored(unwanted).catch(() => undefined);
          expect(found !== undefined && isPart(unwanted, found), `${one.id}: ${step.files?.join()}`).toBe(
            false,
          );
        }
        return undefined;
      case 'delete':
        if (step.ref === undefined) return 'what is deleted is not told';
        await kubectl.ok('delete', step.ref.kind.toLowerCase(), step.ref.name, '--wait=false');
        return undefined;
      case 'sleep':
        await sleep(1_000);
        return undefined;
      default:
        return `its ${step.op} is not part of the data`;
    }
  }

  const cases = (readCorpus(corpus) as unknown as readonly Case[]).filter(({ results }) =>
    results.some(({ target }) => target === 'mutateExisting'),
  );
  it.each(cases.map((one) => [one.id, one] as const))('%s', async (_, one) => {
    const made: JsonObject[] = [];
    try {
      let asserted = 0;
      for (const step of one.steps ?? []) {
        const reason = await run(one, step, made);
        if (reason !== undefined) {
          // What comes after a script depends on it.
          console.info(`${one.id}: ${asserted} assertions held; then ${reason}`);
          break;
        }
        if (step.op === 'assert' || step.op === 'error') asserted += 1;
      }
      expect(asserted).toBeGreaterThan(0);
    } finally {
      const rest = made.filter(({ kind }) => kind !== 'Namespace').reverse();
      for (const document of rest)
        await of(document).send('delete', document, '--ignore-not-found', '--wait=false');
    }
  });
});

/** Maps are parts of maps; lists have the same length. Items with a name may be anywhere: the real program moves what it patches to the front. */
function isPart(wanted: Json, found: Json | undefined): boolean {
  if (isArray(wanted)) {
    if (!isArray(found) || wanted.length !== found.length) return false;
    const named = (item: Json) => (isObject(item) ? member(item, 'name') : undefined);
    return wanted.every((item, index) => {
      const name = named(item);
      return isPart(item, name === undefined ? found[index] : found.find((other) => named(other) === name));
    });
  }
  if (!isObject(wanted)) return wanted === found;
  return isObject(found) && Object.entries(wanted).every(([key, value]) => isPart(value, member(found, key)));
}
