import { expect, it } from 'vitest';
import { sharedModule } from './shared-module.ts';

const load = (text: string) => import(`data:text/javascript,${encodeURIComponent(text)}`);

it('a module has the given exports, with repeated parts written once', async () => {
  const part = { type: 'object', properties: { name: { description: 'The name of the object.' } } };
  const exports = {
    first: [part, { wrapped: part }, 'a text that occurs twice'],
    second: {
      text: 'a text that occurs twice',
      ['__proto__']: { data: 1 },
      none: null,
      part: part.properties,
    },
  };
  const text = sharedModule(exports);
  expect(text.match(/The name of the object/g)).toHaveLength(1);
  expect(text.match(/a text that occurs twice/g)).toHaveLength(1);
  expect({ ...(await load(text)) }).toEqual(exports);
});
