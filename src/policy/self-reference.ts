import type { TemplateOptions } from '../expression/template.ts';
import type { Path } from '../json/value.ts';
import { withoutAnchor } from './patch-writes.ts';

const identifier = /^[A-Za-z_][A-Za-z0-9_]*$/;

/**
 * What `{{@}}` stands for in a patch at `base`: the value at the same place of the object that is patched.
 * Anchors around parents do not count.
 */
export function selfReference(base: Path, object: 'request.object' | 'target'): TemplateOptions {
  return {
    self: (path) => object + path.slice(base.length).map(toStep).join(''),
  };
}

function toStep(token: string | number): string {
  if (typeof token === 'number') return `[${token}]`;
  const name = withoutAnchor(token);
  return identifier.test(name) ? `.${name}` : `.${JSON.stringify(name)}`;
}
