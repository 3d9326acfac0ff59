// Installs a Debian package where that is possible. Without root or apt-get nothing happens: the tests are skipped and give the reason.
import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';

/** `purpose` completes the sentence: "Installing NAME for …". */
export function installDebianPackage(name, purpose) {
  if (process.getuid?.() !== 0 || !existsSync('/etc/debian_version')) return;
  console.error(`Installing ${name} for ${purpose} …`);
  const install = (args) =>
    spawnSync('apt-get', args, {
      stdio: 'ignore',
      env: { ...process.env, DEBIAN_FRONTEND: 'noninteractive' },
    });
  const args = ['install', '--yes', '--no-install-recommends', name];
  if (install(args).status !== 0) {
    install(['update']);
    install(args);
  }
}
