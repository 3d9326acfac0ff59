import { compileRegexp } from '../../expression/go/regexp.ts';
import { compileWildcard } from '../../expression/wildcard.ts';
import type { JsonObject } from '../../json/value.ts';
import { isObject, type Json, member } from '../../json/value.ts';
import { type LabelTest, parseLabelSelector } from '../../patch/replacement/label-selector.ts';
import { describeSelector } from '../../patch/replacement/selector.ts';
import { asRegexp, isBareWildcard } from '../../patch/replacement/text-matcher.ts';
import type { TargetSelector } from '../kustomization/kustomization.ts';
import { KustomizeError, type KustomizeLocation } from '../kustomize-error.ts';
import { currentId, effectiveNamespace, originalId, type Resource } from './resource.ts';
import type { ResourceSet } from './resource-set.ts';

type TextTest = (text: string) => boolean;

export interface CompiledSelector {
  matches(resource: Resource): boolean;
}

/**
 * Id fields are regular expressions that match the whole string. Name and namespace match the original or the current id;
 * group, version and kind match the current id.
 */
export function compileSelector(
  selector: TargetSelector,
  place: KustomizeLocation,
  readName: (text: string) => TextTest = wholeRegexp,
): CompiledSelector {
  const test = (field: 'group' | 'version' | 'kind' | 'name' | 'namespace', read = wholeRegexp) => {
    const text = selector[field];
    return text === undefined || text === '' ? undefined : attempt(() => read(text), place, field, text);
  };
  const group = test('group');
  const version = test('version');
  const kind = test('kind');
  const name = test('name', readName);
  const namespace = test('namespace');
  const labels = labelTest(selector, 'labelSelector', place);
  const annotations = labelTest(selector, 'annotationSelector', place);
  return {
    matches(resource) {
      const id = currentId(resource);
      if (kind?.(id.kind) === false || version?.(id.version) === false || group?.(id.group) === false) {
        return false;
      }
      const original = originalId(resource);
      if (name !== undefined && !name(original.name) && !name(id.name)) return false;
      const isPlaced = (test: TextTest) => test(effectiveNamespace(original)) || test(effectiveNamespace(id));
      if (namespace !== undefined && !isPlaced(namespace)) return false;
      return (
        (labels === undefined || labels(metadataMap(resource.object, 'labels'))) &&
        (annotations === undefined || annotations(metadataMap(resource.object, 'annotations')))
      );
    },
  };
}

/**
 * The resources that a target selects. If a name such as `app-*` selects nothing as a regular expression, it is read as a
 * wildcard.
 */
export function selectTargets(
  set: ResourceSet,
  target: TargetSelector,
  place: KustomizeLocation,
  warn: (text: string) => void,
): readonly Resource[] {
  const { name = '' } = target;
  const looksLikeGlob = /^[A-Za-z0-9.*?-]*[*?][A-Za-z0-9.*?-]*$/.test(name) && !/[.][*?]/.test(name);
  let selected: readonly Resource[] = [];
  try {
    const { matches } = compileSelector(target, place);
    selected = set.list().filter(matches);
  } catch (error) {
    if (!looksLikeGlob || !isAboutName(error)) throw error;
  }
  if (selected.length > 0) return selected;
  const at = `${place.file ?? ''}: ${place.field ?? 'target'}`;
  if (!looksLikeGlob) {
    warn(`${at}: no resource matches ${describeSelector({ ...target })}, so the patch has no effect`);
    return selected;
  }
  const glob = compileSelector(target, place, (text) => compileWildcard(text).matches);
  const found = set.list().filter(glob.matches);
  if (found.length > 0) {
    warn(
      `${place.file ?? ''}: ${place.field ?? 'target'}.name: '${name}' matches nothing as a regular expression and is read as a wildcard; write '${asRegexp(name)}'`,
    );
  } else warn(`${at}: no resource matches ${describeSelector({ ...target })}, so the patch has no effect`);
  return found;
}

function isAboutName(error: unknown): boolean {
  return error instanceof KustomizeError && error.place.field?.endsWith('.name') === true;
}

const metaCharacters = /[\\^$.|?*+()[\]{}]/;

function wholeRegexp(text: string): TextTest {
  if (!metaCharacters.test(text)) return (other) => other === text;
  const regexp = compileRegexp(`^(?:${text})$`);
  // The same kinds, versions and namespaces occur in thousands of resources.
  const known = new Map<string, boolean>();
  return (other) => {
    const before = known.get(other);
    if (before !== undefined) return before;
    const found = regexp.matcher(other).find();
    if (known.size < 10_000) known.set(other, found);
    return found;
  };
}

function labelTest(
  selector: TargetSelector,
  field: 'labelSelector' | 'annotationSelector',
  place: KustomizeLocation,
): LabelTest | undefined {
  const value = selector[field];
  if (value === undefined || value === '') return undefined;
  return attempt(() => parseLabelSelector(value, { strict: true }), place, field);
}

function metadataMap(object: JsonObject, field: 'labels' | 'annotations'): JsonObject {
  const metadata: Json | undefined = member(object, 'metadata');
  const map = isObject(metadata) ? member(metadata, field) : undefined;
  return isObject(map) ? map : {};
}

function attempt<T>(make: () => T, place: KustomizeLocation, field: string, text = ''): T {
  try {
    return make();
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    throw new KustomizeError('KYM_KUSTOMIZATION_INVALID', message, {
      ...place,
      field: `${place.field ?? 'target'}.${field}`,
      hint: isBareWildcard(text) ? `Names are regular expressions: write ${asRegexp(text)}.` : undefined,
    });
  }
}
