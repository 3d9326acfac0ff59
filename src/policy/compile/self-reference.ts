import type { TemplateOptions } from '../../expression/template/template.ts';
import type { Path } from '../../json/value.ts';
import { withoutAnchor } from '../check/patch-writes.ts';

/** A key made of `{{@}}` has no place of its own yet: it is about what it stands in. */
const namesItself = /\{\{-?\s*@\s*\}\}/;
const identifier = /^[A-Za-z_][A-Za-z0-9_]*$/;

/**
 * What `{{@}}` stands for in a patch at `base`: the value at the same place of the object that is patched.
 * Anchors around parents do not count.
 */
export function selfReference(base: Path, object: 'request.object' | 'target'): TemplateOptions {
  return {
    self(path) {
      const steps = path.slice(base.length);
      const end = steps.findIndex((step) => typeof step === 'string' && namesItself.test(step));
      return object + (end < 0 ? steps : steps.slice(0, end)).map(toStep).join('');
    },
  };
}

function toStep(token: string | number): string {
  if (typeof token === 'number') return `[${token}]`;
  const name = withoutAnchor(token);
  return identifier.test(name) ? `.${name}` : `.${JSON.stringify(name)}`;
}
