import { describe, expect, it } from 'vitest';
import { mutatingPolicyEnvironment } from '../../cel/environments.ts';
import { compileVariables } from '../../cel/variables.ts';
import type { Json } from '../../json/value.ts';
import { builtInSchema } from '../../patch/structured/built-in.ts';
import { createScope, Variables } from '../scope.ts';
import { translateContext } from './context.ts';
import { translateTemplate } from './template.ts';

/** The variables of a context, and the CEL text of a template that reads them. */
function translate(context: readonly Json[], template: Json): readonly string[] {
  const variables = new Variables();
  const scope = createScope('mutatingpolicy', variables, 'object', builtInSchema('v1', 'Pod'));
  const text = translateTemplate(template, 'value', translateContext(context, 'context', scope));
  const compiled = compileVariables([...variables.list], mutatingPolicyEnvironment());
  expect([...compiled.problems.values()]).toEqual([]);
  return [...variables.list.map(({ name, expression }) => `${name}: ${expression}`), text.source];
}

describe('translateContext', () => {
  it('makes a variable of an expression, with its default', () => {
    const context = [
      { name: 'app', variable: { jmesPath: 'request.object.metadata.labels.app', default: 'none' } },
      { name: 'full', variable: { value: '{{ app }}-x' } },
    ];
    expect(translate(context, '{{ full }}')).toEqual([
      "app: object.metadata.?labels.?app.orValue('none')",
      "full: variables.app + '-x'",
      'variables.full',
    ]);
  });

  it('reads ConfigMaps and objects of the API server', () => {
    const context = [
      { name: 'settings', configMap: { name: 'settings', namespace: 'platform' } },
      {
        name: 'tier',
        apiCall: {
          urlPath: '/api/v1/namespaces/{{ request.namespace }}',
          jmesPath: "metadata.labels.tier || 'none'",
        },
      },
    ];
    expect(translate(context, '{{ settings.data.region }}-{{ tier }}')).toEqual([
      "settings: resource.Get('v1', 'configmaps', 'platform', 'settings')",
      "tier: optional.ofNonZeroValue(resource.Get('v1', 'namespaces', '', request.namespace).?metadata.?labels.?tier.orValue('')).orValue('none')",
      "variables.settings.data.region + '-' + variables.tier",
    ]);
  });

  it('refuses what CEL cannot read', () => {
    const entry = (name: string, body: Json): Json => ({ name, ...(body as object) });
    const refused = [
      entry('v', { apiCall: { urlPath: '/version', jmesPath: 'minor' } }),
      entry('v', { apiCall: { method: 'POST', urlPath: '/api/v1/namespaces' } }),
      entry('v', { imageRegistry: { reference: 'nginx', jmesPath: 'configData.config' } }),
      entry('v', { variable: { jmesPath: 'to_upper(request.object.metadata.labels.app)', default: 'x' } }),
    ];
    for (const context of refused) expect(() => translate([context], '{{ v }}')).toThrow(/^context\[0\]/);
  });
});
