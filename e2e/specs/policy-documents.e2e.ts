import { expect, it } from 'vitest';
import type { JsonObject } from '../../src/json/value.ts';
import { installCustomResources } from '../custom-resources.ts';
import { documentedPolicies } from '../documented-policies.ts';
import type { KubernetesObject } from '../kubectl.ts';
import { suite } from '../suite.ts';

type PolicyDocument = JsonObject & { readonly kind: string; readonly metadata: { readonly name: string } };

const documented = [
  ...documentedPolicies('seeds-002').filter(({ id }) => /^a\d$/.test(id)),
  ...documentedPolicies('seeds-003').filter(({ id }) => id.startsWith('seed-reads-line-')),
].map(({ document }) => document);

const ofNirmata = documented.filter(({ apiVersion }) => apiVersion.startsWith('policy.nirmata.io/'));
const others = documented.filter((document) => !ofNirmata.includes(document));
const versions = [
  { apiVersion: 'kyverno.io/v1', documents: others },
  { apiVersion: 'kyverno.io/v2beta1', documents: others },
  { apiVersion: 'kyverno.io/v1alpha1', documents: others.filter(({ kind }) => kind === 'Policy') },
  { apiVersion: 'kymera.io/v1', documents: others },
  { apiVersion: 'policy.nirmata.io/v1alpha1', documents: ofNirmata },
];
const ways = [
  { way: 'the client', flags: ['--validate=strict'] },
  { way: 'the server', flags: ['--validate=strict', '--server-side', '--force-conflicts'] },
];

suite('policy documents', ({ kubectl, namespace, before }) => {
  before(async () => {
    await installCustomResources(kubectl);
  });

  for (const { apiVersion, documents } of versions) {
    for (const { way, flags } of ways) {
      it(`as ${apiVersion}, applied twice by ${way}, are read back with nothing pruned`, async () => {
        expect(documents).not.toEqual([]);
        const sent = documents.map((document, index) => named(document, apiVersion, namespace, index));
        await kubectl.sendOk('apply', sent, ...flags);
        const { stdout } = await kubectl.sendOk('apply', sent, ...flags, '-o', 'json');
        for (const document of sent) {
          const found = storedPolicies(stdout).find((stored) => isSame(stored, document));
          expect(found, document.metadata.name).toMatchObject({ spec: document['spec'] });
        }
        await kubectl.sendOk('delete', sent, '--wait=false');
      });
    }
  }
});

function storedPolicies(output: string): readonly PolicyDocument[] {
  const answer = JSON.parse(output) as KubernetesObject;
  return answer.kind === 'List' ? answer['items'] : [answer];
}

function isSame(left: PolicyDocument, right: PolicyDocument): boolean {
  return left.kind === right.kind && left.metadata.name === right.metadata.name;
}

/** Some documents share a name and one ends in a dash, which no object's name may; the rest is as written. */
function named(document: JsonObject, apiVersion: string, namespace: string, index: number): PolicyDocument {
  const { name, ...rest } = document['metadata'] as { readonly name: string } & JsonObject;
  const kind = String(document['kind']);
  const isNamespaced = kind === 'Policy' && !apiVersion.startsWith('policy.nirmata.io/');
  const metadata = {
    ...rest,
    name: `${name.replace(/-$/, '')}-${index}`,
    ...(isNamespaced ? { namespace } : {}),
  };
  return { ...document, apiVersion, kind, metadata };
}
