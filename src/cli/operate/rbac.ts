import { clusterRoleFor } from '../../background/access/cluster-role.ts';
import {
  contextAccess,
  neededAccess,
  type ResourceLookup,
  triggerAccess,
} from '../../background/access/needed-access.ts';
import { usesVariables } from '../../expression/template/template.ts';
import { hasWildcard } from '../../expression/wildcard.ts';
import { stringifyJson } from '../../json/json-text.ts';
import { readObject, readObjects, readText, readTexts } from '../../json/read-field.ts';
import type { JsonObject } from '../../json/value.ts';
import { visibleLine } from '../../offline/output/visible.ts';
import { resourceOf } from '../../policy/resource-name.ts';
import { writeYaml } from '../../yaml/writer.ts';
import { assumedKinds } from '../input/assumed-kinds.ts';
import { openCluster } from '../input/cluster-input.ts';
import { loadPolicies } from '../input/policy-input.ts';
import type { ExitCode, Io } from '../io.ts';

export interface RbacOptions {
  readonly name: string;
  readonly format: 'yaml' | 'json';
  readonly cluster?: boolean | undefined;
  readonly kubeconfig?: string | undefined;
  readonly context?: string | undefined;
}

/** `kymera rbac`: prints the permissions that the background controller needs. */
export async function rbac(policyNames: readonly string[], options: RbacOptions, io: Io): Promise<ExitCode> {
  const { policies } = await loadPolicies(policyNames, io);
  const documents = policies.map(({ document }) => document);
  const print = async (kinds: ResourceLookup): Promise<ExitCode> => {
    const needed = documents.flatMap((document) =>
      [neededAccess, triggerAccess, contextAccess].flatMap((accessOf) => accessOf(document, kinds)),
    );
    const role = clusterRoleFor(options.name, needed);
    if (options.format === 'json') await io.stdout.write(`${stringifyJson(role, 2)}\n`);
    else await io.stdout.write(`${documents.flatMap(openKinds).join('')}${writeYaml(role)}`);
    return 0;
  };
  if (options.cluster !== true) return print(withGuesses(assumedKinds(policies)));
  const cluster = await openCluster(options, io);
  try {
    return await print(cluster.kinds);
  } finally {
    cluster.close();
  }
}

/** Most custom kinds have a regular plural. */
function withGuesses(known: ResourceLookup): ResourceLookup {
  return {
    resourceOf(kind) {
      const served = known.resourceOf(kind);
      if (served !== undefined || kind.group === undefined || !kind.group.includes('.')) return served;
      return { group: kind.group, resource: resourceOf(kind.kind), namespaced: true };
    },
  };
}

/** Comments on kinds that cannot be determined. */
function openKinds(document: JsonObject): readonly string[] {
  const policy = readText(readObject(document, 'metadata') ?? {}, 'name') ?? '';
  return readObjects(readObject(document, 'spec') ?? {}, 'rules').flatMap((rule) => {
    const generate = readObject(rule, 'generate') ?? {};
    const targets = readObjects(readObject(rule, 'mutate') ?? {}, 'targets');
    const patterns = [generate, ...readObjects(generate, 'foreach')];
    const kinds = [...targets, ...patterns].flatMap((holder) => [
      readText(holder, 'kind') ?? '',
      ...readTexts(readObject(holder, 'cloneList') ?? {}, 'kinds'),
    ]);
    return kinds
      .filter((kind) => usesVariables(kind) || hasWildcard(kind))
      .map(
        (kind) =>
          `# ${visibleLine(`policy ${policy}, rule ${readText(rule, 'name') ?? ''}: add the kinds of ${kind}`)}\n`,
      );
  });
}
