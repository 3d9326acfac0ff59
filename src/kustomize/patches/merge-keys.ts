/** The texts of one item's merge keys, in the order of the keys; '' for a key it does not state. */
export type KeyTexts = readonly string[];

/** Where items state different keys, those that agree in one and contradict in none are one: port 80 is port 80/TCP. */
export function mergePartialKeys(identities: readonly KeyTexts[]): KeyTexts[] {
  const result = [...identities];
  for (let left = 0; left < result.length; left++) {
    const wanted = result[left] as KeyTexts;
    for (let right = 0; right < result.length; right++) {
      const united = unite(wanted, result[right] as KeyTexts);
      if (united === undefined) continue;
      result[left] = united;
      result[right] = united;
    }
  }
  return result;
}

function unite(left: KeyTexts, right: KeyTexts): KeyTexts | undefined {
  let agree = false;
  const united: string[] = [];
  for (const [index, text] of left.entries()) {
    const other = right[index] ?? '';
    if (text === other) agree = true;
    else if (text !== '' && other !== '') return undefined;
    united.push(text === '' ? other : text);
  }
  return agree ? united : undefined;
}

/** The keys that at least one of the identities states; all of them when none does. */
export function statedKeys(
  keys: readonly string[],
  identities: readonly KeyTexts[],
): { readonly keys: readonly string[]; texts(identity: KeyTexts): KeyTexts } {
  const stated = keys.map((_key, index) => identities.some((identity) => (identity[index] ?? '') !== ''));
  if (!stated.includes(true)) return { keys, texts: (identity) => identity };
  return {
    keys: keys.filter((_key, index) => stated[index]),
    texts: (identity) => identity.filter((_text, index) => stated[index]),
  };
}
