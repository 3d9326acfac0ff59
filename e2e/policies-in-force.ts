import type { JsonObject } from '../src/json/value.ts';
import type { Kubectl } from './kubectl.ts';
import { patienceFlag, waitFor } from './wait-for.ts';

/** Applies policies and waits until they are Ready. */
export async function applyPolicies(
  kubectl: Kubectl,
  documents: readonly (JsonObject | string)[],
): Promise<void> {
  const { stdout } = await kubectl.sendOk('apply', documents, '-o', 'name');
  const names = stdout.trim().split('\n');
  const isCel = (name: string) => name.includes('.policies.kyverno.io/');
  for (const [sign, chosen] of [
    ['condition=Ready', names.filter((name) => !isCel(name))],
    ['jsonpath={.status.conditionStatus.ready}=true', names.filter(isCel)],
  ] as const) {
    if (chosen.length === 0) continue;
    await kubectl.ok('wait', `--for=${sign}`, ...chosen, patienceFlag);
  }
}

/** Runs `act` while the policies are installed. */
export async function withPolicies<T>(
  kubectl: Kubectl,
  documents: readonly (JsonObject | string)[],
  act: () => Promise<T>,
): Promise<T> {
  try {
    await applyPolicies(kubectl, documents);
    return await act();
  } finally {
    await kubectl.send('delete', documents, '--ignore-not-found');
  }
}

/** Repeats a server-side dry run until the result is as expected: shows when a policy has taken effect, or was removed. */
export async function becomesTrue(
  kubectl: Kubectl,
  what: string,
  document: JsonObject,
  accept: (result: JsonObject & { metadata: { labels?: Record<string, string> } }) => boolean,
): Promise<void> {
  await waitFor(
    async () => {
      const shown = await kubectl.sendOk('create', document, '--dry-run=server', '-o', 'json');
      return accept(JSON.parse(shown.stdout));
    },
    { what },
  );
}
