// Finds Chromium for the tests of the page.
import { existsSync } from 'node:fs';
import { installDebianPackage } from './debian-package.mjs';

export function chromiumProgram() {
  return process.env.CHROMIUM_PATH ?? '/usr/bin/chromium';
}

export function ensureChromium() {
  if (existsSync(chromiumProgram()) || process.env.CHROMIUM_PATH !== undefined) return;
  installDebianPackage('chromium', 'the tests of the page');
}
