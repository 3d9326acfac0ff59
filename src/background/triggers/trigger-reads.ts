import type { Path } from '../../json/value.ts';
import { preconditionReads, ruleReads } from '../../policy/check/rule-reads.ts';
import type { CompiledBlock, CompiledRule, CompiledRuleHead } from '../../policy/compiled.ts';

/** The parts of a trigger that a rule may read; a superset of what it reads. */
export interface TriggerReads {
  /** Without identity fields and labels, which are always kept. */
  readonly object: readonly Path[] | 'all';
  readonly oldObject: readonly Path[] | 'all';
  /** The user of the request. */
  readonly user: boolean;
}

const userRoots = new Set(['serviceAccountName', 'serviceAccountNamespace']);
const userFields = new Set(['userInfo', 'roles', 'clusterRoles']);
const known = new WeakMap<CompiledRuleHead, TriggerReads>();

export function triggerReads(rule: CompiledRuleHead): TriggerReads {
  const before = known.get(rule);
  if (before !== undefined) return before;
  const reads = analyse(rule);
  known.set(rule, reads);
  return reads;
}

function analyse(rule: CompiledRuleHead): TriggerReads {
  const targets = celTargetsOf(rule);
  if (targets !== undefined)
    return { object: 'all', oldObject: targets.readsOldObject ? 'all' : [], user: targets.readsUser };
  const { paths } = ruleReads(rule.document);
  const blocks = [rule.match, rule.exclude].flatMap((filter) => filter?.any ?? filter?.all ?? []);
  const isMatched = blocks.some(({ annotations }) => annotations !== undefined);
  return {
    object: partsOf('object', paths, isMatched),
    oldObject: partsOf('oldObject', paths, isMatched),
    user: blocks.some(namesUsers) || paths.some(readsUser),
  };
}

function celTargetsOf(rule: CompiledRuleHead & Partial<Pick<CompiledRule, 'mutation'>>) {
  return rule.mutation?.type === 'cel' ? rule.mutation.program.targets : undefined;
}

/** The parts of a request, other than its object, that the preconditions of a rule may read. */
export interface ConditionReads {
  readonly operation: boolean;
  /** The user or the old object, which are known only when the request is admitted. */
  readonly original: boolean;
}

const knownConditions = new WeakMap<CompiledRuleHead, ConditionReads>();

export function conditionReads(rule: CompiledRuleHead): ConditionReads {
  const before = knownConditions.get(rule);
  if (before !== undefined) return before;
  const { paths } = preconditionReads(rule.document);
  const readsField = (name: string) => paths.some(([root, field]) => root === 'request' && field === name);
  const reads = {
    operation: readsField('operation'),
    original: paths.some(readsUser) || readsField('oldObject'),
  };
  knownConditions.set(rule, reads);
  return reads;
}

function partsOf(field: 'object' | 'oldObject', paths: readonly Path[], annotated: boolean) {
  const parts: Path[] = annotated && field === 'object' ? [['metadata', 'annotations']] : [];
  for (const path of paths) {
    const [root, member, ...rest] = path;
    if (root === 'images' && field === 'object') parts.push(['spec']);
    else if (root === undefined || (root === 'request' && member === undefined)) return 'all';
    else if (root === 'request' && member === field) {
      if (rest.length === 0) return 'all';
      parts.push(rest);
    }
  }
  return withoutCovered(parts);
}

/** Drops paths that another path contains. */
function withoutCovered(paths: readonly Path[]): readonly Path[] {
  const texts = paths.map((path) => JSON.stringify(path).slice(0, -1));
  return paths.filter((_, index) => {
    const text = texts[index] ?? '';
    return !texts.some(
      (other, at) => at !== index && (text === other ? at < index : text.startsWith(`${other},`)),
    );
  });
}

function namesUsers(block: CompiledBlock): boolean {
  return block.subjects !== undefined || block.roles !== undefined || block.clusterRoles !== undefined;
}

function readsUser([root, member]: Path): boolean {
  if (typeof root !== 'string') return false;
  return userRoots.has(root) || (root === 'request' && typeof member === 'string' && userFields.has(member));
}
