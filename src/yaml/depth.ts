/**
 * At least as deep as the YAML or JSON text can nest: open brackets, plus the indentation and the `- ` and `? `
 * markers before them. The parser recurses and takes the whole process down when its stack ends, so texts that go
 * too deep have to be refused before they are parsed. Brackets inside quotes are counted too, which only
 * matters when hundreds of them are never closed.
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
