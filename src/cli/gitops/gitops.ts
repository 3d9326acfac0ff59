import { loadPolicies } from '../input/policy-input.ts';
import type { ExitCode, Io } from '../io.ts';
import { argocdText } from './argocd.ts';
import { fluxText } from './flux.ts';
import { gitopsHints } from './hints.ts';

export interface GitopsOptions {
  readonly for?: 'argocd' | 'flux' | undefined;
}

/** `kymera gitops hints`: prints settings that make GitOps tools ignore policy-managed fields. */
export async function hints(names: readonly string[], options: GitopsOptions, io: Io): Promise<ExitCode> {
  const { policies } = await loadPolicies(names, io);
  const found = gitopsHints(policies);
  const texts = [
    ...(options.for === 'flux' ? [] : [argocdText(found)]),
    ...(options.for === 'argocd' ? [] : [fluxText(found)]),
  ];
  await io.stdout.write(texts.join('---\n'));
  return 0;
}
