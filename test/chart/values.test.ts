import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { isObject, type Json, type JsonObject } from '../../src/json/value.ts';

const read = (path: string) => readFileSync(path, 'utf8');
const values = parse(read('charts/kymera/values.yaml')) as JsonObject;
const schema = JSON.parse(read('charts/kymera/values.schema.json')) as JsonObject;
const everyValue = parse(read('e2e/helm/every-value.yaml')) as JsonObject;

/** Paths of the values down to where the schema lets anything in. */
function keysOf(value: Json | undefined, of: Json | undefined, path = ''): readonly string[] {
  const properties = isObject(of) ? of['properties'] : undefined;
  if (!isObject(value) || !isObject(properties)) return [path];
  return Object.entries(value).flatMap(([key, item]) => keysOf(item, properties[key], `${path}/${key}`));
}

function schemaKeys(of: Json | undefined, path = ''): readonly string[] {
  const properties = isObject(of) ? of['properties'] : undefined;
  // Free maps show what they hold in the schema only.
  if (!isObject(properties) || Object.keys(properties).length === 0) return [path];
  return Object.entries(properties).flatMap(([key, item]) => schemaKeys(item, `${path}/${key}`));
}

describe('the values of the chart', () => {
  const known = new Set(keysOf(values, schema));

  it('can be read in five minutes', () => {
    expect(read('charts/kymera/values.yaml').split('\n').length).toBeLessThan(130);
  });

  it('are all in the schema', () => {
    const described = new Set(schemaKeys(schema));
    const isDescribed = (key: string) =>
      [...described].some((each) => each === key || each.startsWith(`${key}/`));
    expect([...known].filter((key) => !isDescribed(key))).toEqual([]);
  });

  it('have a default for whatever the schema knows', () => {
    const isGiven = (key: string) => [...known].some((each) => key === each || key.startsWith(`${each}/`));
    // Resources and issuers are Kubernetes' and cert-manager's own shapes.
    const free = /^\/global$|\/resources\/claims$|\/issuerRef\//;
    expect(schemaKeys(schema).filter((key) => !free.test(key) && !isGiven(key))).toEqual([]);
  });

  it('are all given in the values that the chart is tested with', () => {
    const given = new Set(keysOf(everyValue, schema));
    const isGiven = (key: string) => [...given].some((each) => each === key || each.startsWith(`${key}/`));
    expect([...known].filter((key) => !isGiven(key))).toEqual([]);
  });
});
