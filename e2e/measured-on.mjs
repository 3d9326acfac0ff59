import { cpus, loadavg } from 'node:os';

/** When and where something was measured. */
export function measuredOn() {
  const day = new Date().toISOString().slice(0, 10);
  const load = loadavg()[0]?.toFixed(0);
  return `Measured on ${day} with Node ${process.versions.node} on ${cpus().length} cores, at a load of ${load} at the end.`;
}
