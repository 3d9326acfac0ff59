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

/** Nothing of the cluster layer is loaded before it is asked for. */
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

/** The objects of a cluster as if they had been read from files. */
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

/** What the input has, else what the cluster has. */
export function firstAnswer(input: DataSource, cluster: DataSource): DataSource {
  return {
    read(query) {
      // Labels the input does not know are no labels there, but may be in the cluster.
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
