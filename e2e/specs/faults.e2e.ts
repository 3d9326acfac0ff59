import { appendFileSync } from 'node:fs';
import { join } from 'node:path';
import { it } from 'vitest';
import { type ApiProxy, openApiProxy } from '../api-proxy.ts';
import { type BackgroundProcess, startBackgroundProcess } from '../background-process.ts';
import { type ClusterServer, startClusterServer } from '../cluster-server.ts';
import { readState } from '../control-plane/state.ts';
import { policyWith } from '../faults/control-plane.ts';
import { type FaultWorld, hasLabel, longForm, shortForm } from '../faults/fault.ts';
import { faults } from '../faults/rows.ts';
import { grant, ownNamespace, revoke } from '../installation.ts';
import { createKubectl } from '../kubectl.ts';
import { applyPolicies } from '../policies-in-force.ts';
import { type StallingProxy, startStallingProxy } from '../stalling-proxy.ts';
import { suite } from '../suite.ts';

/** `npm run faults` sets both: the long form, and the file for its results. */
const isLong = process.env['KYMERA_FAULTS'] === 'long';
const resultFile = process.env['KYMERA_FAULTS_RESULTS'];
const timeoutMs = 900_000;

suite('faults', ({ settings, kubectl, namespace, before, after }) => {
  const folder = settings.controlPlane;
  let world: FaultWorld;
  let server: ClusterServer | undefined;
  let connection: StallingProxy | undefined;
  let api: ApiProxy | undefined;
  const workers: BackgroundProcess[] = [];
  const own = createKubectl(settings, ownNamespace);
  const startWorker = async () => {
    const worker = await startBackgroundProcess(settings);
    workers.push(worker);
    return worker;
  };
  before(async () => {
    if (folder === undefined) return;
    connection = await startStallingProxy(Number(new URL(readState(folder).server).port));
    const replicas = isLong ? 3 : 2;
    const tokenFile = join(folder, 'faults-token');
    server = await startClusterServer(settings, { replicas, apiServerPort: connection.port, tokenFile });
    await grant(own, 'background', 'e2e-faults', [
      { apiGroups: [''], resources: ['configmaps'], verbs: ['get', 'list', 'patch'] },
    ]);
    await startWorker();
    await startWorker();
    api = await openApiProxy(settings);
    world = {
      settings,
      kubectl,
      namespace,
      api,
      server,
      connection,
      replicas: new Set(Array.from({ length: replicas }, (_, index) => index)),
      workers,
      startWorker,
      tokenFile,
      folder,
      size: isLong ? longForm : shortForm,
    };
    await applyPolicies(kubectl, [policyWith(namespace, 'yes')]);
    await hasLabel(world, 'yes');
  });
  after(async () => {
    api?.close();
    await kubectl.run(['delete', 'clusterpolicies.kyverno.io', 'faults', '--ignore-not-found']);
    await Promise.all(workers.map((worker) => worker.stop()));
    await revoke(own, 'background', 'e2e-faults');
    await server?.uninstall();
    await connection?.close();
  });

  for (const [index, fault] of faults.entries()) {
    it(
      `${fault.name}: ${fault.promise}`,
      async (context) => {
        if (folder === undefined) context.skip('only on a control plane of our own');
        if (fault.isLong && !isLong) context.skip('only in the long form: npm run faults');
        const { name, promise, assertion } = fault;
        const record = (entry: object) => {
          if (resultFile !== undefined)
            appendFileSync(resultFile, `${JSON.stringify({ name, promise, assertion, ...entry })}\n`);
        };
        const missing = fault.missing?.();
        if (missing !== undefined) {
          record({ note: `not run: ${missing}` });
          context.skip(missing);
        }
        console.info(`${index + 1} of ${faults.length}: ${name}`);
        const measured = await fault.run(world);
        console.info(JSON.stringify(measured));
        record(measured);
      },
      timeoutMs,
    );
  }
});
