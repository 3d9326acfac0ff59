import { isObject, type Json, type JsonObject, member } from '../../json/value.ts';
import type { Kustomization } from './kustomization.ts';

/** The charts of a kustomization, each with the global settings, and the field that names it. */
export function chartConfigs({
  helmCharts = [],
  helmGlobals = {},
  helmChartInflationGenerator = [],
}: Kustomization): readonly { readonly field: string; readonly config: JsonObject }[] {
  const old = helmChartInflationGenerator.map((entry, index) => ({
    field: `helmChartInflationGenerator[${index}]`,
    config: modernized(entry),
  }));
  const current = helmCharts.map((entry, index) => ({
    field: `helmCharts[${index}]`,
    config: { ...helmGlobals, ...(isObject(entry) ? entry : {}) },
  }));
  return [...current, ...old];
}

const currentNames: Readonly<Record<string, string>> = {
  chartName: 'name',
  chartVersion: 'version',
  chartRepoUrl: 'repo',
  chartHome: 'chartHome',
  helmHome: 'configHome',
  values: 'valuesFile',
  valuesLocal: 'valuesInline',
  valuesMerge: 'valuesMerge',
  releaseName: 'releaseName',
};

/** An entry of the deprecated `helmChartInflationGenerator` with the names of `helmCharts`. */
function modernized(entry: JsonObject): JsonObject {
  const members = Object.entries(currentNames).flatMap(([old, current]): [string, Json][] => {
    const value = isObject(entry) ? member(entry, old) : undefined;
    return value === undefined ? [] : [[current, value]];
  });
  return Object.fromEntries(members);
}
