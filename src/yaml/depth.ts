/**
 * An upper bound of the nesting depth of YAML or JSON: open brackets, plus indentation and the `- ` and `? ` markers.
 * The parser recurses, and a stack overflow ends the whole process, so documents that nest too deeply must be
 * rejected before parsing. Brackets inside quotes count too, which matters only if hundreds of them are not closed.
 */
export function yamlDepthBound(text: string): number {
  let deepest = 0;
  let brackets = 0;
  let lead = 0;
  let inLead = true;
  for (let at = 0; at < text.length; at++) {
    const character = text.charCodeAt(at);
    if (character === NEWLINE || character === RETURN) {
      lead = 0;
      inLead = true;
      continue;
    }
    if (inLead && isLead(character)) lead++;
    else {
      inLead = false;
      if (character === OPEN_LIST || character === OPEN_MAP) brackets++;
      else if ((character === CLOSE_LIST || character === CLOSE_MAP) && brackets > 0) brackets--;
    }
    if (lead + brackets > deepest) deepest = lead + brackets;
  }
  return deepest;
}

const NEWLINE = 0x0a;
const RETURN = 0x0d;
const OPEN_LIST = 0x5b;
const CLOSE_LIST = 0x5d;
const OPEN_MAP = 0x7b;
const CLOSE_MAP = 0x7d;

/** Blank, tab, `-`, `?`. */
function isLead(character: number): boolean {
  return character === 0x20 || character === 0x09 || character === 0x2d || character === 0x3f;
}
