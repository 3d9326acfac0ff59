import { type Stats, statSync } from 'node:fs';
import { join } from 'node:path';
import { KustomizeError } from '../kustomize-error.ts';
import type { PluginName, PluginRole } from './plugin-name.ts';

type Environment = Readonly<Record<string, string | undefined>>;

export type FoundPlugin =
  /** One program for each kind: `<group>/<version>/<kind>/<Kind>`. */
  | { readonly layout: 'kind'; readonly path: string }
  /** One program for a whole group: `plugins/<group>`. */
  | { readonly layout: 'group'; readonly path: string };

/** Finds the program for a config. The error lists all paths tried. */
export function findPlugin(name: PluginName, role: PluginRole, environment: Environment): FoundPlugin {
  const tried: string[] = [];
  const find = (path: string): string | undefined => {
    tried.push(path);
    const stats = statOf(path);
    if (stats === undefined || stats.isDirectory()) return undefined;
    if ((stats.mode & 0o111) === 0) {
      throw new KustomizeError('KYM_PLUGIN_NOT_FOUND', `the plugin ${path} is not executable`, {
        hint: `Run chmod +x ${path}.`,
      });
    }
    return path;
  };
  if (isSafeName(name)) {
    // As in kustomize, only the first existing root is searched. If none exists, the error lists all.
    const roots = kindRoots(environment);
    const existing = roots.find((root) => statOf(root)?.isDirectory() === true);
    for (const root of existing === undefined ? roots : [existing]) {
      const path = find(join(root, name.group, name.version, name.kind.toLowerCase(), name.kind));
      if (path !== undefined) return { layout: 'kind', path };
    }
    for (const candidate of name.group === '' ? [] : groupPaths(name.group, role, environment)) {
      const path = find(candidate);
      if (path !== undefined) return { layout: 'group', path };
    }
  }
  const tries =
    tried.length === 0 ? 'its group, version and kind are not valid path names' : `tried ${tried.join(', ')}`;
  throw new KustomizeError(
    'KYM_PLUGIN_NOT_FOUND',
    `no plugin found for ${name.kind} of group '${name.group}', version '${name.version}': ${tries}`,
  );
}

function kindRoots(environment: Environment): readonly string[] {
  const { KUSTOMIZE_PLUGIN_HOME: own, XDG_CONFIG_HOME: config, HOME: home } = environment;
  return [
    ...(own ? [own] : []),
    ...(config ? [join(config, 'kustomize', 'plugin')] : []),
    ...(home ? [join(home, '.config', 'kustomize', 'plugin'), join(home, 'kustomize', 'plugin')] : []),
  ];
}

function groupPaths(group: string, role: PluginRole, environment: Environment): readonly string[] {
  const { KUSTOMIZE_PLUGIN_HOME: own, XDG_CONFIG_HOME: config, HOME: home } = environment;
  const folders =
    role === 'generators' ? ['', 'generators', 'transformers'] : ['', 'transformers', 'generators'];
  const base = config || (home ? join(home, '.config') : '');
  return [...(base === '' ? [] : [join(base, 'kustomize', 'plugins')]), ...(own ? [own] : [])].flatMap(
    (root) => folders.map((folder) => join(root, folder, group)),
  );
}

/** The parts become folder names and must not leave the root. */
function isSafeName({ group, version, kind }: PluginName): boolean {
  return kind !== '' && [group, version, kind].every((part) => !/[/\\\0]|^\.\.?$/.test(part));
}

function statOf(path: string): Stats | undefined {
  try {
    return statSync(path, { throwIfNoEntry: false });
  } catch {
    return undefined;
  }
}
