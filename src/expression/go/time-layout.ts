import { spendSteps } from '../../json/budget.ts';

/** One element of a Go reference layout, such as `2006` or `Jan`; anything else is literal text. */
export type LayoutElement =
  | { readonly kind: 'literal'; readonly text: string }
  | { readonly kind: 'element'; readonly text: string; readonly reads: ElementName };

export type ElementName =
  | 'longMonth'
  | 'shortMonth'
  | 'month'
  | 'paddedMonth'
  | 'longWeekday'
  | 'shortWeekday'
  | 'day'
  | 'blankDay'
  | 'paddedDay'
  | 'blankYearDay'
  | 'yearDay'
  | 'hour'
  | 'hour12'
  | 'paddedHour12'
  | 'minute'
  | 'paddedMinute'
  | 'second'
  | 'paddedSecond'
  | 'longYear'
  | 'year'
  | 'upperNoon'
  | 'lowerNoon'
  | 'zoneName'
  | 'zone'
  | 'fraction'
  | 'optionalFraction';

const elements: readonly (readonly [RegExp, ElementName])[] = [
  [/January/y, 'longMonth'],
  [/Jan(?![a-z])/y, 'shortMonth'],
  [/Monday/y, 'longWeekday'],
  [/Mon(?![a-z])/y, 'shortWeekday'],
  [/MST/y, 'zoneName'],
  [/002/y, 'yearDay'],
  [/01/y, 'paddedMonth'],
  [/02/y, 'paddedDay'],
  [/03/y, 'paddedHour12'],
  [/04/y, 'paddedMinute'],
  [/05/y, 'paddedSecond'],
  [/06/y, 'year'],
  [/15/y, 'hour'],
  [/1/y, 'month'],
  [/2006/y, 'longYear'],
  [/2/y, 'day'],
  [/__2/y, 'blankYearDay'],
  [/_2(?!006)/y, 'blankDay'],
  [/3/y, 'hour12'],
  [/4/y, 'minute'],
  [/5/y, 'second'],
  [/PM/y, 'upperNoon'],
  [/pm/y, 'lowerNoon'],
  [/[-Z]07(?:0000|:00:00|00|:00)?/y, 'zone'],
  [/[.,]0+(?!\d)/y, 'fraction'],
  [/[.,]9+(?!\d)/y, 'optionalFraction'],
];

export function parseLayout(layout: string): readonly LayoutElement[] {
  // Each character is tried against all elements.
  spendSteps(layout.length << 5);
  const parsed: LayoutElement[] = [];
  let literal = '';
  for (let position = 0; position < layout.length; ) {
    const found = elementAt(layout, position);
    if (found === undefined) {
      literal += layout[position];
      position++;
      continue;
    }
    if (literal !== '') parsed.push({ kind: 'literal', text: literal });
    literal = '';
    parsed.push(found);
    position += found.text.length;
  }
  if (literal !== '') parsed.push({ kind: 'literal', text: literal });
  return parsed;
}

function elementAt(layout: string, position: number): LayoutElement | undefined {
  for (const [syntax, reads] of elements) {
    syntax.lastIndex = position;
    const [text] = syntax.exec(layout) ?? [];
    if (text !== undefined) return { kind: 'element', text, reads };
  }
  return undefined;
}
