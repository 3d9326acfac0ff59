// Preloaded into a measured process: leaves its peak memory in the file named by KYMERA_USAGE.
import { writeFileSync } from 'node:fs';

process.on('exit', () => {
  const { maxRSS } = process.resourceUsage();
  writeFileSync(process.env.KYMERA_USAGE, JSON.stringify({ peakMegabytes: maxRSS / 1024 }));
});
