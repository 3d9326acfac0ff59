import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { basename, join } from 'node:path';
import { parse, parseAllDocuments } from 'yaml';
import { examplesFor } from '../../src/analysis/interplay/example-object.ts';
import { loadDocuments } from '../../src/policy/load.ts';
import { writeYaml } from '../../src/yaml/writer.ts';
import type { SourceText } from '../engine/workspace.ts';
import type { Example } from './example.ts';

/** The samples, the cookbook, and the policies in the documents. Runs when the page is built. */
export function collectExamples(root: string): Example[] {
  return [
    ...samples(root),
    ...cookbook(root),
    ...kustomizations(root),
    ...policyExamples(root),
    ...documentExamples(root),
  ];
}

function samples(root: string): Example[] {
  const resources = ['web-pod.yaml', 'agent-pod.yaml'].map((name) =>
    source(root, `policies/resources/${name}`),
  );
  return folders(root, 'policies')
    .filter((name) => existsSync(join(root, 'policies', name, 'policy.yaml')))
    .map((name) => {
      const policy = source(root, `policies/${name}/policy.yaml`, `${name}.yaml`);
      return {
        id: `samples/${name}`,
        group: 'Samples',
        ...titleOf(policy.text, name),
        workspace: { policies: [policy], resources, context: [] },
      };
    });
}

function cookbook(root: string): Example[] {
  return folders(root, 'docs/cookbook').map((name) => {
    const folder = `docs/cookbook/${name}`;
    const policy = source(root, `${folder}/policy.yaml`, `${name}.yaml`);
    const context = `${folder}/context.yaml`;
    return {
      id: `cookbook/${name}`,
      group: 'Cookbook',
      ...titleOf(policy.text, name),
      workspace: {
        policies: [policy],
        resources: [source(root, `${folder}/object.yaml`)],
        context: existsSync(join(root, context)) ? [source(root, context)] : [],
      },
    };
  });
}

/** Each folder has its files, and its policies in a folder of that name. */
function kustomizations(root: string): Example[] {
  // The largest one first: it opens for a new kustomization.
  return folders(root, 'docs/kustomize-examples')
    .reverse()
    .map((name) => {
      const folder = `docs/kustomize-examples/${name}`;
      const { text } = source(root, `${folder}/example.yaml`);
      const settings = parse(text) as Pick<Example, 'title' | 'description'> & { readonly folder: string };
      const sources = filesBelow(root, folder).filter((path) => path !== 'example.yaml');
      const texts = sources.map((path) => source(root, `${folder}/${path}`, path));
      const isPolicy = (path: string) => path.startsWith('policies/');
      return {
        id: `kustomize/${name}`,
        group: 'Kustomize',
        title: settings.title,
        description: settings.description,
        workspace: {
          policies: texts
            .filter((file) => isPolicy(file.name))
            .map((file) => ({ ...file, name: basename(file.name) })),
          files: texts.filter((file) => !isPolicy(file.name)),
          folder: settings.folder,
        },
      };
    });
}

function policyExamples(root: string): Example[] {
  return readdirSync(join(root, 'docs/policy-examples'))
    .filter((name) => name.endsWith('.yaml'))
    .sort()
    .flatMap((name) =>
      withObjects({
        id: `reference/${basename(name, '.yaml')}`,
        group: 'Reference',
        source: source(root, `docs/policy-examples/${name}`),
        page: 'the policy reference',
      }),
    );
}

/** YAML blocks of the documents that are policies. */
function documentExamples(root: string): Example[] {
  const pages = ['README.md', ...readdirSync(join(root, 'docs')).map((name) => `docs/${name}`)];
  const found: Example[] = [];
  const known = new Set<string>();
  for (const page of pages.filter((name) => name.endsWith('.md') && name !== 'docs/cookbook.md').sort()) {
    const text = readFileSync(join(root, page), 'utf8');
    const stem = basename(page, '.md').toLowerCase();
    for (const [, block = ''] of text.matchAll(/^```yaml\n([\s\S]*?)^```/gm)) {
      if (!/^kind: (?:Cluster)?Policy$/m.test(block) || known.has(block)) continue;
      known.add(block);
      const count = found.filter(({ id }) => id.startsWith(`documents/${stem}-`)).length + 1;
      found.push(
        ...withObjects({
          id: `documents/${stem}-${count}`,
          group: 'Documents',
          source: { name: 'policy.yaml', text: block },
          page,
        }),
      );
    }
  }
  return found;
}

interface BarePolicy {
  readonly id: string;
  readonly group: string;
  readonly source: SourceText;
  readonly page: string;
}

/** A policy without an object gets example objects that its rules select. */
function withObjects({ id, group, source: policy, page }: BarePolicy): Example[] {
  const documents = parseAllDocuments(policy.text).map((document) => ({
    text: document.toString(),
    kind: String(document.get('kind') ?? ''),
  }));
  const isPolicy = (kind: string) => /Policy|PolicyException|GlobalContextEntry/.test(kind);
  const { policies, problems } = loadDocuments([{ file: policy.name, text: policy.text }]);
  if (policies.length === 0 || problems.some(({ severity }) => severity === 'error')) return [];
  const written = documents.filter(({ kind }) => kind !== '' && !isPolicy(kind)).map(({ text }) => text);
  const objects = policies.flatMap((one) =>
    one.rules
      .filter(({ autogenOf }) => autogenOf === undefined)
      .flatMap((rule) => examplesFor(one, rule).slice(0, 1))
      .map(({ object }) => writeYaml(object)),
  );
  const texts = [...new Set(written.length > 0 ? written : objects)];
  if (texts.length === 0) return [];
  const policyText =
    written.length === 0
      ? policy.text
      : documents
          .filter(({ kind }) => isPolicy(kind))
          .map(({ text }) => text)
          .join('---\n');
  const title = titleOf(policyText, policies[0]?.name ?? id);
  return [
    {
      id,
      group,
      title: title.title,
      description: title.description || `From ${page}.`,
      workspace: {
        policies: [{ name: policy.name, text: policyText }],
        resources: [
          { name: 'object.yaml', text: texts.map((text) => text.replace(/^---\n/, '')).join('---\n') },
        ],
        context: [],
      },
    },
  ];
}

function titleOf(policy: string, name: string): { title: string; description: string } {
  const [document] = parseAllDocuments(policy);
  const annotation = (key: string) =>
    String(document?.getIn(['metadata', 'annotations', `policies.kyverno.io/${key}`]) ?? '').trim();
  return { title: annotation('title') || name, description: annotation('description') };
}

function folders(root: string, path: string): string[] {
  return readdirSync(join(root, path), { withFileTypes: true })
    .filter((entry) => entry.isDirectory())
    .map((entry) => entry.name)
    .sort();
}

function filesBelow(root: string, path: string): string[] {
  const folder = join(root, path);
  return readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((name) => statSync(join(folder, name)).isFile())
    .sort();
}

function source(root: string, path: string, name = basename(path)): SourceText {
  return { name, text: readFileSync(join(root, path), 'utf8') };
}
