import { execFileSync } from 'node:child_process';
import { X509Certificate } from 'node:crypto';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { connect } from 'node:tls';
import { expect } from 'vitest';
import { issueServing } from '../../src/cluster/certificates/issuer.ts';
import { restartProgram } from '../control-plane/start.ts';
import { waitFor } from '../wait-for.ts';
import { changedAndBack, changedTwice, nothingLost } from './control-plane.ts';
import { type Fault, type FaultWorld, hasLabel, secondsOf, underLoad } from './fault.ts';
import { kill, killUnderLoad, lostAtKills, replace } from './killed.ts';

/** Faults of the machine of a replica: its clock and its disk. */
export const machineFaults: readonly Fault[] = [
  {
    name: 'the clock of the leader jumps a year ahead, and then a year back',
    promise:
      'No review is lost. Certificates that it issues are valid for the API server, it keeps the Lease, and policies that change take effect.',
    assertion: `${nothingLost} At each time it serves the certificate that it stored, which is valid now. It became the leader once. ${changedTwice}`,
    missing: () =>
      fakeClock() === undefined ? 'libfaketime is not installed (Debian: faketime)' : undefined,
    run: clockJumps,
  },
  {
    name: 'the serving certificate expires while the API server is down',
    promise: 'The leader renews it when the API server is back. The cluster is not locked.',
    assertion: `All replicas serve a certificate of 30 s; the API server is down until it has expired. Then no replica serves it. ${changedTwice} ${nothingLost}`,
    run: certificateExpires,
  },
  {
    name: 'the state folder of a replica is full',
    promise: 'It starts and answers, and policies that change take effect.',
    assertion: `Further writes to its folder fail with ENOSPC. It becomes ready and answers alone, without an internal error. ${lostAtKills} ${changedTwice}`,
    missing: missingMount,
    run: fullFolder,
  },
];

const libraries = '/usr/lib/*/faketime/libfaketime.so.1';

function fakeClock(): string | undefined {
  try {
    return execFileSync('sh', ['-c', `ls ${libraries}`], { stdio: 'pipe' })
      .toString()
      .trim()
      .split('\n')[0];
  } catch {
    return undefined;
  }
}

async function clockJumps(world: FaultWorld) {
  const { kubectl, server, replicas, folder, connection } = world;
  const own = kubectl.with(`--namespace=${server.namespace}`);
  const clock = join(folder, 'clock');
  const setClock = (offset: string) => writeFileSync(clock, offset);
  setClock('+0');
  const environment = {
    LD_PRELOAD: fakeClock() ?? '',
    FAKETIME_TIMESTAMP_FILE: clock,
    FAKETIME_CACHE_DURATION: '1',
    // Only the time of day jumps.
    FAKETIME_DONT_FAKE_MONOTONIC: '1',
  };
  const others = [...replicas];
  await replace(world, { environment });
  const [replica = 0] = [...replicas].filter((each) => !others.includes(each));
  for (const each of others) await kill(world, each);
  await changedAndBack(world);
  let recoverySeconds = 0;
  const { sent: reviews, lost } = await underLoad(world, async () => {
    for (const offset of ['+365d', '-365d']) {
      setClock(offset);
      await waitFor(() => server.output(replica).includes(`"time":"${yearAfter(offset)}-`), {
        what: 'a line with the other time',
        everyMs: 500,
      });
      await own.ok('delete', 'secret', 'kymera-serving');
      connection.cut();
      // The API server may still use an open connection, so the certificate is checked here.
      await waitFor(
        async () => {
          const { data } = await own.get('secret', 'kymera-serving');
          const stored = new X509Certificate(decode(data['tls.crt']));
          const served = await servedBy(world, replica);
          return stored.fingerprint256 === served.fingerprint256 && isValidNow(served);
        },
        { what: 'a valid certificate' },
      );
      recoverySeconds = Math.max(recoverySeconds, await secondsOf(() => changedAndBack(world)));
    }
  });
  expect(server.output(replica).match(/"became the leader"/g), 'how often it became the leader').toHaveLength(
    1,
  );
  for (const each of others) if (each >= 0) await replace(world);
  await kill(world, replica);
  return { reviews, lost, recoverySeconds };
}

const decode = (text: string) => Buffer.from(text, 'base64').toString('utf8');

function yearAfter(offset: string): number {
  return new Date(Date.now() + (offset.startsWith('+') ? 1 : -1) * 365 * 86_400_000).getUTCFullYear();
}

const certificateSeconds = 30;

async function certificateExpires(world: FaultWorld) {
  const { kubectl, server, folder, replicas } = world;
  const own = kubectl.with(`--namespace=${server.namespace}`);
  const encode = (text: string) => Buffer.from(text).toString('base64');
  const { data } = await own.get('secret', 'kymera-ca');
  const authority = { cert: decode(data['tls.crt']), key: decode(data['tls.key']) };
  // Certificates start an hour before. This one starts now, so that it is not renewed at once.
  const hour = 3_600_000;
  const validity = {
    now: new Date(Date.now() + hour),
    days: (certificateSeconds * 1_000 - hour) / (24 * hour),
  };
  const issued = await issueServing(authority, [server.host], validity);
  const patch = { data: { 'tls.crt': encode(issued.cert), 'tls.key': encode(issued.key) } };
  const expiresAt = Date.now() + certificateSeconds * 1_000;
  await own.ok('patch', 'secret', 'kymera-serving', '-p', JSON.stringify(patch));
  const { fingerprint256 } = new X509Certificate(issued.cert);
  const areServing = async (isExpected: boolean) =>
    (await Promise.all([...replicas].map((each) => servedBy(world, each)))).every(
      (served) => (served.fingerprint256 === fingerprint256) === isExpected,
    );
  // Later it is due to be renewed.
  await waitFor(() => areServing(true), {
    what: 'all replicas to serve the certificate',
    seconds: certificateSeconds / 2,
  });
  await restartProgram(folder, 'kube-apiserver', 'SIGKILL', expiresAt - Date.now() + 1_000);
  const recoverySeconds = await secondsOf(async () => {
    await hasLabel(world, 'yes');
    await changedAndBack(world);
    await waitFor(() => areServing(false), {
      what: 'no replica to serve the expired certificate',
    });
  });
  const { sent: reviews, lost } = await underLoad(world, async () => undefined);
  return { reviews, lost, recoverySeconds, note: 'reviews after the recovery' };
}

/** The certificate that a replica shows to the API server. */
function servedBy({ server }: FaultWorld, replica: number): Promise<X509Certificate> {
  return new Promise((resolve, reject) => {
    const port = server.ports()[replica] ?? 0;
    const socket = connect({ host: server.host, port, rejectUnauthorized: false }, () => {
      resolve(new X509Certificate(socket.getPeerCertificate().raw));
      socket.destroy();
    });
    socket.once('error', reject);
  });
}

function isValidNow({ validFrom, validTo }: X509Certificate): boolean {
  return Date.parse(validFrom) <= Date.now() && Date.now() <= Date.parse(validTo);
}

function missingMount(): string | undefined {
  const folder = mkdtempSync(join(tmpdir(), 'kymera-mount-'));
  try {
    execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=64k', 'tmpfs', folder], { stdio: 'pipe' });
    execFileSync('umount', [folder], { stdio: 'pipe' });
    return undefined;
  } catch {
    return 'a tmpfs cannot be mounted here';
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

async function fullFolder(world: FaultWorld) {
  const { folder, replicas, server } = world;
  const state = join(folder, 'full');
  mkdirSync(state);
  execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=64k', 'tmpfs', state]);
  try {
    expect(() => writeFileSync(join(state, 'filler'), Buffer.alloc(1_000_000))).toThrow(/ENOSPC/);
    const others = [...replicas];
    let replica = -1;
    let recoverySeconds = 0;
    const counts = await underLoad(world, async (load) => {
      await replace(world, { args: ['--state-dir', state] });
      replica = [...replicas].find((each) => !others.includes(each)) ?? -1;
      for (const each of others) await killUnderLoad(world, load, each);
      recoverySeconds = await secondsOf(() => changedAndBack(world));
    });
    for (const each of others) if (each >= 0) await replace(world);
    await kill(world, replica);
    expect(server.output(replica)).not.toMatch(/internal error|uncaught/i);
    return {
      reviews: counts.sent,
      lost: counts.lost,
      recoverySeconds,
      note: 'lost when other replicas are killed',
    };
  } finally {
    execFileSync('umount', ['--lazy', state]);
  }
}
