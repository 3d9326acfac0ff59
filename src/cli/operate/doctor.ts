import { diagnose } from '../../cluster/diagnosis.ts';
import type { ExitCode, Io } from '../io.ts';
import { type ClusterChoice, withCluster } from './with-cluster.ts';

export interface DoctorOptions extends ClusterChoice {
  readonly fix?: boolean | undefined;
}

export function doctor(options: DoctorOptions, io: Io): Promise<ExitCode> {
  return withCluster(options, io, async (client) => {
    let isWell = true;
    for (const { ok, note, text, remedy } of await diagnose(client)) {
      await io.stdout.write(`${ok ? (note ? 'note' : 'ok  ') : 'BAD '} ${text}\n`);
      if (ok) continue;
      if (remedy === undefined || options.fix !== true) {
        isWell = false;
        if (remedy !== undefined) await io.stdout.write('     --fix removes it\n');
        continue;
      }
      await client.delete(remedy.type, { name: remedy.name });
      await io.stdout.write(`     removed ${remedy.name}\n`);
    }
    return isWell ? 0 : 1;
  });
}
