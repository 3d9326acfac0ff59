import { describe, expect, it } from 'vitest';
import { defaultSettings, readSettings } from './cluster-settings.ts';

const read = (data: Record<string, string>) => readSettings({ data });

describe('settings from the ConfigMap', () => {
  it('are the defaults without one', () => {
    expect(readSettings(undefined)).toEqual({ settings: defaultSettings, problems: [] });
  });

  it('hold lists and filters for requests', () => {
    const { settings } = read({
      resourceFilters: ' [Event,*,*] [*/*,kube-system,*] ',
      excludeGroups: 'system:nodes, a*',
      excludeUsernames: '!kubernetes-admin',
      excludeRoles: '',
      defaultRegistry: 'registry.example.com:5000/mirror',
      enableDefaultRegistryMutation: 'false',
      maxContextSize: '4Mi',
    });
    expect(settings.request).toEqual({
      resourceFilters: '[Event,*,*] [*/*,kube-system,*]',
      excludeGroups: ['system:nodes', 'a*'],
      excludeUsernames: ['!kubernetes-admin'],
      excludeRoles: [],
      excludeClusterRoles: [],
      defaultRegistry: 'registry.example.com:5000/mirror',
      enableDefaultRegistryMutation: false,
      maxContextSize: 4 * 1024 * 1024,
    });
  });

  it('are those of the flags where it says nothing, and its own where it does, be it that there are none', () => {
    const given = {
      ...defaultSettings.request,
      resourceFilters: '[Event,*,*]',
      excludeGroups: ['a'],
      excludeUsernames: ['b'],
      defaultRegistry: 'mirror.example',
      enableDefaultRegistryMutation: false,
      maxContextSize: 5,
    };
    expect(readSettings(undefined, given).settings.request).toEqual(given);
    const data = {
      excludeGroups: '',
      resourceFilters: '',
      defaultRegistry: 'other.example',
      maxContextSize: '?',
    };
    expect(readSettings({ data }, given).settings.request).toEqual({
      ...given,
      excludeGroups: [],
      resourceFilters: '',
      defaultRegistry: 'other.example',
    });
  });

  it('hold selectors of the webhook, as an object or as a list of one', () => {
    const selector = { matchLabels: { a: 'b' } };
    for (const webhooks of [{ namespaceSelector: selector }, [{ namespaceSelector: selector }]]) {
      expect(read({ webhooks: JSON.stringify(webhooks) }).settings.webhookNamespaceSelector).toEqual(
        selector,
      );
    }
  });

  it('hold labels, annotations and conditions of the webhook', () => {
    const { settings } = read({
      webhookAnnotations: '{"a": "b"}',
      webhookLabels: '{"c": "d"}',
      matchConditions: '[{"name": "n", "expression": "true"}]',
    });
    expect(settings).toMatchObject({
      webhookAnnotations: { a: 'b' },
      webhookLabels: { c: 'd' },
      matchConditions: [{ name: 'n', expression: 'true' }],
    });
  });

  it('hold numbers', () => {
    expect(read({ updateRequestThreshold: '5' }).settings).toMatchObject({ updateRequestThreshold: 5 });
  });

  it.each([
    ['webhooks', '{', 'webhooks is not JSON'],
    ['generateSuccessEvents', 'yes', 'generateSuccessEvents is neither true nor false'],
    ['updateRequestThreshold', 'many', 'updateRequestThreshold is not a number'],
    ['maxContextSize', 'big', 'maxContextSize is not a quantity'],
    ['defaultRegistry', 'a b', 'defaultRegistry is not a host name'],
  ])('keep the default and say so when %s is %s', (key, value, problem) => {
    expect(read({ [key]: value })).toEqual({ settings: defaultSettings, problems: [problem] });
  });
});
