import { isArray, isObject, type Json, type Path } from '../../json/value.ts';

/** The scalars of a document by their place: `/mutate/patchStrategicMerge/metadata/name`, anchors left out. */
export type Leaves = ReadonlyMap<string, Json>;

export function listLeaves(document: Json): Leaves {
  const leaves = new Map<string, Json>();
  const visit = (value: Json, place: string): void => {
    if (!isArray(value) && !isObject(value)) leaves.set(place, value);
    else for (const [key, child] of Object.entries(value)) visit(child, `${place}/${segment(key)}`);
  };
  visit(document, '');
  return leaves;
}

export function findLeaf(leaves: Leaves, place: string): Json | undefined {
  return leaves.get(place) ?? undefined;
}

/** The place a reference names; a relative one starts from the leaf it stands in. */
export function locate(target: string, from: Path): string {
  const segments = target.startsWith('/') ? [] : from.map((token) => segment(String(token)));
  for (const step of target.split(/(?<!\\)\//)) {
    if (step === '..') segments.pop();
    else if (step !== '' && step !== '.') segments.push(step);
  }
  return `/${segments.join('/')}`;
}

const anchor = /^[+<=X^]?\((.+)\)$/;

/** A key as one segment: without its anchor, and with its slashes protected. */
function segment(key: string): string {
  const name = anchor.exec(key.trim())?.[1] ?? key;
  return name.includes('/') ? name.replaceAll('/', '\\/') : name;
}
