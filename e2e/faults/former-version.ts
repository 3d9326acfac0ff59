import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('../..', import.meta.url));
/** The version to run beside this one. */
export const formerCommit = process.env['KYMERA_FAULTS_FORMER'] ?? 'f844c91';

let known: { readonly program?: string; readonly missing?: string } | undefined;

/** Builds the former version from the history of this checkout, once. */
export function formerVersion(): { readonly program?: string; readonly missing?: string } {
  known ??= build();
  return known;
}

function build(): { readonly program?: string; readonly missing?: string } {
  if (!existsSync(join(root, '.git')))
    return { missing: 'this is not a git checkout, so there is no former version' };
  const folder = mkdtempSync(join(tmpdir(), 'kymera-former-'));
  const tree = join(folder, 'tree');
  mkdirSync(tree);
  try {
    const archive = join(folder, 'former.tar');
    execFileSync('git', ['-C', root, 'archive', '-o', archive, formerCommit], { stdio: 'pipe' });
    execFileSync('tar', ['-xf', archive, '-C', tree]);
    symlinkSync(join(root, 'node_modules'), join(tree, 'node_modules'));
    execFileSync(process.execPath, ['scripts/build.mjs', '--program'], { cwd: tree, stdio: 'pipe' });
    return { program: join(tree, 'bin', 'kymera') };
  } catch (error) {
    const [reason = ''] = String(error instanceof Error ? error.message : error).split('\n');
    return { missing: `the version ${formerCommit} cannot be built: ${reason}` };
  }
}
