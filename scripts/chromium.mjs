// Finds Chromium for the tests of the page, and installs Debian's package where that is possible.
import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';

export function chromiumProgram() {
  return process.env.CHROMIUM_PATH ?? '/usr/bin/chromium';
}

/** Without root or apt-get nothing happens: the tests are skipped and give the reason. */
export function ensureChromium() {
  if (existsSync(chromiumProgram()) || process.env.CHROMIUM_PATH !== undefined) return;
  if (process.getuid?.() !== 0 || !existsSync('/etc/debian_version')) return;
  console.error('Installing Chromium for the tests of the page …');
  const install = (args) =>
    spawnSync('apt-get', args, {
      stdio: 'ignore',
      env: { ...process.env, DEBIAN_FRONTEND: 'noninteractive' },
    });
  const args = ['install', '--yes', '--no-install-recommends', 'chromium'];
  if (install(args).status !== 0) {
    install(['update']);
    install(args);
  }
}
