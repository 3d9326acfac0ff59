import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, renameSync, rmSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('../..', import.meta.url));
/** The version to run beside this one. */
export const formerCommit = process.env['KYMERA_FAULTS_FORMER'] ?? 'f844c91';

let known: { readonly program?: string; readonly missing?: string } | undefined;

/** Builds the former version from the history of this checkout, once; it is kept in the cache folder. */
export function formerVersion(): { readonly program?: string; readonly missing?: string } {
  known ??= build();
  return known;
}

function build(): { readonly program?: string; readonly missing?: string } {
  const git = (...args: readonly string[]) => execFileSync('git', ['-C', root, ...args], { stdio: 'pipe' });
  try {
    git('cat-file', '-e', `${formerCommit}^{commit}`);
  } catch {
    return { missing: `the commit ${formerCommit} is not in this checkout: a complete git clone has it` };
  }
  const folder = join(root, '.cache', `former-${formerCommit}`);
  const program = join(folder, 'bin', 'kymera');
  if (existsSync(join(folder, 'dist'))) return { program };
  const unfinished = `${folder}-${process.pid}`;
  mkdirSync(unfinished, { recursive: true });
  try {
    const archive = join(unfinished, 'former.tar');
    git('archive', '-o', archive, formerCommit);
    execFileSync('tar', ['-xf', archive, '-C', unfinished]);
    symlinkSync(join(root, 'node_modules'), join(unfinished, 'node_modules'));
    execFileSync(process.execPath, ['scripts/build.mjs', '--program'], { cwd: unfinished, stdio: 'pipe' });
    renameSync(unfinished, folder);
    return { program };
  } catch (error) {
    rmSync(unfinished, { recursive: true, force: true });
    const [reason = ''] = String(error instanceof Error ? error.message : error).split('\n');
    return { missing: `the version ${formerCommit} cannot be built: ${reason}` };
  }
}
