import { hasWildcard } from '../../expression/wildcard.ts';
import type { CelText } from '../types.ts';
import { equalTo, precedence, primary, quote, text, within } from './cel-text.ts';

/** Whether a string matches a pattern of `*` and `?`: as a comparison, `startsWith`, `endsWith`, `contains` or a regular expression. */
export function wildcardTest(subject: CelText, pattern: string): CelText {
  if (!hasWildcard(pattern)) {
    return equalTo(subject, { ...text(quote(pattern), 'string'), total: true });
  }
  const receiver = primary(subject);
  const [prefix = '', middle = '', suffix = '', ...rest] = pattern.replace(/\*{2,}/g, '*').split('*');
  if (rest.length === 0 && !pattern.includes('?')) {
    const stars = pattern.replace(/\*{2,}/g, '*').split('*').length - 1;
    if (stars === 1 && middle === '' && prefix !== '')
      return text(`${receiver}.startsWith(${quote(prefix)})`, 'bool');
    if (stars === 1 && prefix === '' && middle !== '')
      return text(`${receiver}.endsWith(${quote(middle)})`, 'bool');
    if (stars === 2 && prefix === '' && suffix === '')
      return text(`${receiver}.contains(${quote(middle)})`, 'bool');
  }
  if (pattern === '?*' || pattern === '*?')
    return text(`${within(subject, precedence.sum)} != ''`, 'bool', precedence.relation);
  return text(`${receiver}.matches(${quote(wildcardExpression(pattern))})`, 'bool');
}

/** @example wildcardExpression('web-*') // '^web-.*$' */
function wildcardExpression(pattern: string): string {
  const parts = pattern
    .replace(/\*{2,}/g, '*')
    .replace(/[\\^$.|+()[\]{}]/g, '\\$&')
    .replaceAll('*', '.*')
    .replaceAll('?', '.');
  return `(?s)^${parts}$`;
}
