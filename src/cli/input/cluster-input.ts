import { resolve } from 'node:path';
import type { ClusterReader } from '../../cluster/cluster-reader.ts';
import type { DataAnswer, DataSource } from '../../engine/context/data-source.ts';
import type { ReadItem } from '../../offline/resource-documents.ts';
import type { CompiledPolicy } from '../../policy/compiled.ts';
import { inputError } from '../../problem.ts';
import type { Io } from '../io.ts';

interface ClusterInputOptions {
  readonly kubeconfig?: string | undefined;
  readonly context?: string | undefined;
}

/** Loads the cluster layer only when a command uses a cluster. */
export async function openCluster(
  { kubeconfig, context }: ClusterInputOptions,
  io: Io,
): Promise<ClusterReader> {
  const { openClusterReader } = await import('../../cluster/cluster-reader.ts');
  try {
    return await openClusterReader({
      env: io.env,
      ...(kubeconfig === undefined ? {} : { kubeconfig: resolve(io.cwd, kubeconfig) }),
      context,
    });
  } catch (error) {
    throw clusterFailure(error);
  }
}

/** The objects of a cluster, in the same form as objects from files. */
export async function* clusterItems(
  cluster: ClusterReader,
  policies: readonly CompiledPolicy[],
  namespace: string | undefined,
): AsyncGenerator<ReadItem> {
  try {
    for await (const object of cluster.objects(policies, namespace)) {
      yield { object, file: 'the cluster', line: 1, discovered: true };
    }
  } catch (error) {
    throw clusterFailure(error);
  }
}

/** Reads from the input first, then from the cluster. */
export function firstAnswer(input: DataSource, cluster: DataSource): DataSource {
  return {
    read(query) {
      // The input answers every namespace; only the cluster knows its real labels.
      if (query.type === 'namespaceLabels') return cluster.read(query);
      const answer = input.read(query);
      const orCluster = (known: DataAnswer) =>
        known.found || known.denied === true ? known : cluster.read(query);
      return answer instanceof Promise ? answer.then(orCluster) : orCluster(answer);
    },
  };
}

function clusterFailure(error: unknown): Error {
  return inputError('KYM_CLUSTER', error instanceof Error ? error.message : String(error));
}
