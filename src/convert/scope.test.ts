import { describe, expect, it } from 'vitest';
import { createScope, Variables } from './scope.ts';
import type { CelText } from './types.ts';

const text = (source: string): CelText => ({ source, type: 'dyn', precedence: 10 });

describe('createScope', () => {
  it('defines a variable once per expression, with a free name', () => {
    const variables = new Variables();
    const scope = createScope('mutatingpolicy', variables);
    expect(scope.variable('app name', text('object.metadata.name'), 'a').source).toBe('variables.appName');
    expect(scope.variable('other', text('object.metadata.name'), 'b').source).toBe('variables.appName');
    expect(scope.variable('app-name', text('1'), 'c').source).toBe('variables.appName2');
    expect(scope.variable('in', text('2'), 'd').source).toBe('variables.valuein');
    expect(scope.variable('9', text('3'), 'e').source).toBe('variables.value9');
    expect(variables.list.map(({ origin }) => origin)).toEqual(['a', 'c', 'd', 'e']);
  });

  it('looks up names of the scope and of the scopes around it', () => {
    const scope = createScope('map', new Variables()).child(new Map([['element', text('e')]]));
    const inner = scope.child(new Map([['elementIndex', text('i')]]));
    expect(inner.lookup('element')?.source).toBe('e');
    expect(inner.lookup('elementIndex')?.source).toBe('i');
    expect(scope.lookup('elementIndex')).toBeUndefined();
  });
});
