import { diagnose } from '../../cluster/diagnosis.ts';
import { visible } from '../../offline/output/visible.ts';
import type { ExitCode, Io } from '../io.ts';
import { type ClusterChoice, withCluster } from './with-cluster.ts';

export interface DoctorOptions extends ClusterChoice {
  readonly fix?: boolean | undefined;
}

/** `kymera doctor`: diagnoses the webhooks and policies of a cluster. */
export function doctor(options: DoctorOptions, io: Io): Promise<ExitCode> {
  return withCluster(options, io, async (client) => {
    let isHealthy = true;
    for (const { ok, note, text, remedy } of await diagnose(client)) {
      await io.stdout.write(`${ok ? (note ? 'note' : 'ok  ') : 'BAD '} ${visible(text)}\n`);
      if (ok) continue;
      if (remedy === undefined || options.fix !== true) {
        isHealthy = false;
        if (remedy !== undefined) await io.stdout.write('     --fix removes it\n');
        continue;
      }
      await client.delete(remedy.type, { name: remedy.name });
      await io.stdout.write(`     removed ${remedy.name}\n`);
    }
    return isHealthy ? 0 : 1;
  });
}
