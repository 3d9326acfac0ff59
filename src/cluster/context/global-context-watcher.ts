import type { Discovery } from '../api/discovery.ts';
import { type Informer, startInformer } from '../api/informer.ts';
import { globalContextKind } from '../policies/kinds.ts';
import { createGlobalContext, type GlobalContext } from './global-context.ts';
import type { GlobalContextOptions } from './global-context-source.ts';

export interface GlobalContextWatcherOptions extends Omit<GlobalContextOptions, 'kinds'> {
  readonly discovery: Discovery;
  readonly onError: (what: string, error: unknown) => void;
}

/** Watches GlobalContextEntries when their kind is installed. */
export function followGlobalContext(options: GlobalContextWatcherOptions): GlobalContext {
  const { client, discovery, onError } = options;
  const context = createGlobalContext({ ...options, kinds: () => discovery.current() });
  let informer: Informer | undefined;
  const adapt = () => {
    if (informer !== undefined || discovery.current().kindOfResource(globalContextKind.type) === undefined)
      return;
    informer = startInformer({
      client,
      ...globalContextKind,
      onChange: ({ key, object }) => context.set(key, object),
      onError: (error) => onError('global context entries', error),
    });
  };
  adapt();
  const unsubscribe = discovery.onChange(adapt);
  return {
    ...context,
    async stop() {
      unsubscribe();
      await informer?.stop();
      await context.stop();
    },
  };
}
