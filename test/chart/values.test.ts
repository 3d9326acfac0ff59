import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { isObject, type Json, type JsonObject } from '../../src/json/value.ts';

const read = (path: string) => readFileSync(path, 'utf8');
const values = parse(read('charts/kymera/values.yaml')) as JsonObject;
const schema = JSON.parse(read('charts/kymera/values.schema.json')) as JsonObject;
const everyValue = parse(read('e2e/helm/every-value.yaml')) as JsonObject;

/** Paths of the values, down to where the schema allows any value. */
function keysOf(value: Json | undefined, of: Json | undefined, path = ''): readonly string[] {
  const properties = isObject(of) ? of['properties'] : undefined;
  if (!isObject(value) || !isObject(properties)) return [path];
  return Object.entries(value).flatMap(([key, item]) => keysOf(item, properties[key], `${path}/${key}`));
}

function schemaKeys(of: Json | undefined, path = ''): readonly string[] {
  const properties = isObject(of) ? of['properties'] : undefined;
  // Maps with any keys have no properties in the schema.
  if (!isObject(properties) || Object.keys(properties).length === 0) return [path];
  return Object.entries(properties).flatMap(([key, item]) => schemaKeys(item, `${path}/${key}`));
}

describe('the chart values', () => {
  const known = new Set(keysOf(values, schema));

  it('are short enough to read in five minutes', () => {
    expect(read('charts/kymera/values.yaml').split('\n').length).toBeLessThan(130);
  });

  it('are all in the schema', () => {
    const described = new Set(schemaKeys(schema));
    const isDescribed = (key: string) =>
      [...described].some((each) => each === key || each.startsWith(`${key}/`));
    expect([...known].filter((key) => !isDescribed(key))).toEqual([]);
  });

  it('have a default for everything in the schema', () => {
    const isGiven = (key: string) => [...known].some((each) => key === each || key.startsWith(`${each}/`));
    // Kubernetes and cert-manager define resources and issuers.
    const free = /^\/global$|\/resources\/claims$|\/issuerRef\//;
    expect(schemaKeys(schema).filter((key) => !free.test(key) && !isGiven(key))).toEqual([]);
  });

  it('are all set in the values of the chart tests', () => {
    const given = new Set(keysOf(everyValue, schema));
    const isGiven = (key: string) => [...given].some((each) => each === key || each.startsWith(`${key}/`));
    expect([...known].filter((key) => !isGiven(key))).toEqual([]);
  });
});
