import type { Programs } from './build-context.ts';
import { externalPlugin } from './plugins/external.ts';
import { renderChart } from './plugins/helm-chart.ts';
import { createRepositories } from './remote/repositories.ts';

/** git, helm and plugins of this machine. */
export const localPrograms: Programs = { createRepositories, pluginFor: externalPlugin, renderChart };
