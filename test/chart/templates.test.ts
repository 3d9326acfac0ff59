import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import {
  mutatingConfigurationName,
  triggerConfigurationName,
  validatingConfigurationName,
} from '../../src/cluster/webhooks/names.ts';
import { registerBackgroundMetrics } from '../../src/server/metrics/background-metrics.ts';
import { createMetrics } from '../../src/server/metrics/metrics.ts';
import { kymera } from '../cli/in-process.testing.ts';

const folder = 'charts/kymera/templates';
const read = (path: string) => readFileSync(path, 'utf8');
const templates = new Map(
  readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((name) => /\.(yaml|tpl)$/.test(name))
    .map((name) => [name, read(join(folder, name))]),
);

function flagsIn(...names: readonly string[]): readonly string[] {
  const text = names.map((name) => templates.get(name) ?? '').join('\n');
  return [...new Set([...text.matchAll(/(?:- |")(--[a-z][a-z-]*)/g)].map(([, flag]) => flag ?? ''))];
}

describe('the chart templates', () => {
  it.each([
    ['serve', flagsIn('admission.yaml', '_pod.tpl')],
    ['background', flagsIn('background.yaml', '_pod.tpl')],
    ['cleanup', flagsIn('cleanup-hook.yaml')],
  ])('pass existing flags to kymera %s', async (command, flags) => {
    const { stdout } = await kymera([command, '--help']);
    expect(flags.length).toBeGreaterThan(3);
    expect(flags.filter((flag) => !stdout.includes(`${flag} `))).toEqual([]);
  });

  it('use the names of the webhook configurations of the program', () => {
    const names = [mutatingConfigurationName, validatingConfigurationName, triggerConfigurationName];
    expect(templates.get('_roles.tpl')).toContain(`[${names.join(', ')}]`);
  });

  it('give the server a state folder that is writable and survives a restart of the container', () => {
    const admission = templates.get('admission.yaml') ?? '';
    expect(admission).toContain('- --state-dir=/state\n');
    expect(admission).toContain('- { name: state, mountPath: /state }\n');
    expect(admission).toMatch(/- name: state\n\s+emptyDir:/);
  });

  it('have the version of the program', () => {
    const { version } = JSON.parse(read('package.json'));
    expect(parse(read('charts/kymera/Chart.yaml'))).toMatchObject({ version, appVersion: version });
  });
});

describe('alerts and dashboard', () => {
  const alerts = parse(read('charts/kymera/files/alerts.yaml'));
  const dashboard = JSON.parse(read('charts/kymera/files/dashboard.json'));
  const expressions: readonly string[] = [
    ...alerts.groups.flatMap((group: { rules: { expr: string }[] }) => group.rules.map(({ expr }) => expr)),
    ...dashboard.panels.flatMap((panel: { targets: { expr: string }[] }) =>
      panel.targets.map(({ expr }) => expr),
    ),
  ];

  it('use metrics that the server exports', async () => {
    const { registry } = createMetrics();
    registerBackgroundMetrics(registry, {});
    const text = await registry.metrics();
    const counted = new Set([...text.matchAll(/^# TYPE (\S+)/gm)].map(([, name]) => name));
    const named = expressions.flatMap((each) => each.match(/\b(?:kyverno|kymera|process|nodejs)_\w+/g) ?? []);
    expect(named.length).toBeGreaterThan(10);
    expect(named.filter((name) => !counted.has(name.replace(/_bucket$/, '')))).toEqual([]);
  });

  it('are documented', () => {
    const page = read('docs/operations.md');
    const alerted = alerts.groups.flatMap((group: { rules: { alert: string }[] }) =>
      group.rules.map(({ alert }) => alert),
    );
    expect(alerted.filter((name: string) => !page.includes(name))).toEqual([]);
  });

  it('select the metrics of Kymera where Kyverno is monitored, too', () => {
    const series = expressions.flatMap((each) => each.match(/\bkyverno_\w+(\{[^}]*\})?/g) ?? []);
    expect(series.filter((each) => !each.includes('job=~".*kymera'))).toEqual([]);
  });
});
