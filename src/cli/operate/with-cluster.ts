import type { ApiClient } from '../../cluster/api/client.ts';
import { ApiError, ClusterAccessError, messageOf } from '../../cluster/api/cluster-error.ts';
import { connect } from '../../cluster/api/connect.ts';
import { inputError } from '../../problem.ts';
import type { ExitCode, Io } from '../io.ts';

export interface ClusterChoice {
  readonly kubeconfig?: string | undefined;
  readonly context?: string | undefined;
}

/** Runs a function with a client. A cluster error becomes an InputError. */
export async function withCluster(
  choice: ClusterChoice,
  io: Io,
  use: (client: ApiClient) => Promise<ExitCode>,
): Promise<ExitCode> {
  const { kubeconfig, context } = choice;
  try {
    const { client } = await connect({
      env: io.env,
      kubeconfig,
      context,
    });
    try {
      return await use(client);
    } finally {
      client.close();
    }
  } catch (error) {
    if (error instanceof ClusterAccessError || error instanceof ApiError)
      throw inputError('KYM_CLUSTER', messageOf(error));
    throw error;
  }
}
