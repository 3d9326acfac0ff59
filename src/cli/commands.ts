import type { Command } from 'commander';
import type { CommandHost } from './io.ts';

export type DefineCommand = (program: Command, host: CommandHost) => void;

/**
 * All commands, in the order in which help lists them. A definition is imported only when its command runs, or when all of them are
 * listed (help, completion, the reference page).
 */
export const commandTable: ReadonlyMap<string, () => Promise<DefineCommand>> = new Map([
  ['apply', async () => (await import('./apply/command.ts')).defineApply],
  ['explain', async () => (await import('./explain/command.ts')).defineExplain],
  ['playground', async () => (await import('./playground/command.ts')).definePlayground],
  ['test', async () => (await import('./test/command.ts')).defineTest],
  ['build', async () => (await import('./build/command.ts')).defineBuild],
  ['diff', async () => (await import('./build/diff-command.ts')).defineDiff],
  ['transform', async () => (await import('./build/transform-command.ts')).defineTransform],
  ['serve', async () => (await import('./serve/command.ts')).defineServe],
  ['background', async () => (await import('./serve/background-command.ts')).defineBackground],
  ['validate', async () => (await import('./validate/command.ts')).defineValidate],
  ['convert', async () => (await import('./convert/command.ts')).defineConvert],
  ['jp', async () => (await import('./jp/command.ts')).defineJp],
  ['cel', async () => (await import('./cel/command.ts')).defineCel],
  ['create', async () => (await import('./create/command.ts')).defineCreate],
  ['migrate', async () => (await import('./migrate/command.ts')).defineMigrate],
  ['gitops', async () => (await import('./gitops/command.ts')).defineGitops],
  ['existing', async () => (await import('./existing/command.ts')).defineExisting],
  ['rbac', async () => (await import('./operate/rbac-command.ts')).defineRbac],
  ['doctor', async () => (await import('./operate/doctor-command.ts')).defineDoctor],
  ['cleanup', async () => (await import('./operate/cleanup-command.ts')).defineCleanup],
  ['errors', async () => (await import('./about/errors-command.ts')).defineErrors],
  ['version', async () => (await import('./about/version-command.ts')).defineVersion],
  ['completion', async () => (await import('./completion/command.ts')).defineCompletion],
]);
