import { monitorEventLoopDelay } from 'node:perf_hooks';
import { Gauge, type Registry } from 'prom-client';

const resolutionMilliseconds = 20;

/** Registers the process metrics that help an operator, with the names that Prometheus clients share. */
export function registerProcessMetrics(registry: Registry): void {
  const registers = [registry];
  const started = Date.now() / 1000 - process.uptime();
  new Gauge({
    name: 'process_resident_memory_bytes',
    help: 'Resident memory size in bytes.',
    registers,
    collect() {
      this.set(process.memoryUsage.rss());
    },
  });
  new Gauge({
    name: 'process_cpu_seconds_total',
    help: 'User and system processor time.',
    registers,
    collect() {
      const { user, system } = process.cpuUsage();
      this.set((user + system) / 1e6);
    },
  });
  new Gauge({
    name: 'process_start_time_seconds',
    help: 'When the process started.',
    aggregator: 'min',
    registers,
  }).set(started);
  const delay = monitorEventLoopDelay({ resolution: resolutionMilliseconds });
  delay.enable();
  new Gauge({
    name: 'nodejs_eventloop_lag_p99_seconds',
    help: '99th percentile of the event loop delay since the last scrape.',
    aggregator: 'max',
    registers,
    collect() {
      // What is measured is the time between two ticks.
      this.set(Math.max(0, delay.percentile(99) / 1e9 - resolutionMilliseconds / 1e3));
      delay.reset();
    },
  });
  new Gauge({
    name: 'kyverno_info',
    help: 'The running version.',
    aggregator: 'first',
    labelNames: ['version'],
    registers,
  }).set({ version: process.env['KYMERA_VERSION'] ?? 'development' }, 1);
}
