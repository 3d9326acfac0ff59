import type { GeneratedObject } from '../../background/generate/generate.ts';
import { refTitle } from '../../background/object-identity.ts';
import type { ObjectRef } from '../../background/ports.ts';
import type { UpdateRequest, UpdateStatus } from '../../background/queue/update-request.ts';
import type { TargetWrite } from '../../background/targets/write-target.ts';
import type { CompiledPolicy } from '../../policy/compiled.ts';
import { type EventNote, type EventSubject, subjectOfPolicy } from './review-events.ts';

/** Events about an object that the background controller changed, or failed to change. */
export function writeNotes(
  policy: CompiledPolicy,
  { rule }: UpdateRequest,
  write: TargetWrite,
): readonly EventNote[] {
  const { ref } = write.result;
  if (ref.name === '') return [];
  if (write.outcome === 'written') return applied(policy, rule, ref, 'Resource Mutated', 'mutated');
  if (write.outcome !== 'failed' || write.error === undefined) return [];
  return [
    { ...problem(`policy ${policy.key}/${rule} error: ${write.error.message}`), regarding: subjectOf(ref) },
  ];
}

/** Events about an object that the background controller generated. */
export function generatedNotes(
  policy: CompiledPolicy,
  { rule }: UpdateRequest,
  { action, ref }: GeneratedObject,
): readonly EventNote[] {
  if (ref === undefined) return [];
  if (action === 'created') return applied(policy, rule, ref, 'Resource Generated', 'generated');
  if (action === 'updated') return applied(policy, rule, ref, 'Resource Generated', 'updated');
  return [];
}

/** Events about an UpdateRequest that failed or had nothing to do. */
export function resultNotes(
  policy: CompiledPolicy,
  request: UpdateRequest,
  { state, message, deadLetter }: UpdateStatus,
): readonly EventNote[] {
  const { rule, trigger } = request;
  const related = trigger.name === '' ? {} : { related: subjectOf(trigger) };
  const regarding = subjectOfPolicy(policy);
  if (state === 'Failed') {
    const end = deadLetter ? ' (given up)' : '';
    return [{ ...problem(`policy ${policy.key}/${rule} error: ${message}${end}`), regarding, ...related }];
  }
  if (state !== 'Skip') return [];
  const note = `policy ${policy.key}/${rule} skipped: ${message}`;
  const skipped = { reason: 'PolicySkipped', type: 'Normal', action: 'Resource Passed', note } as const;
  return [
    { ...skipped, regarding, ...related },
    ...(trigger.name === '' ? [] : [{ ...skipped, regarding: subjectOf(trigger), related: regarding }]),
  ];
}

/** Events about a trigger that was not accepted. */
export function triggerNote(policy: CompiledPolicy, rule: string, reason: string): EventNote {
  return { ...problem(`policy ${policy.key}/${rule} error: ${reason}`), regarding: subjectOfPolicy(policy) };
}

function applied(
  policy: CompiledPolicy,
  rule: string,
  ref: ObjectRef,
  action: string,
  done: string,
): readonly EventNote[] {
  const base = { reason: 'PolicyApplied', type: 'Normal', action } as const;
  const [object, author] = [subjectOf(ref), subjectOfPolicy(policy)];
  return [
    { ...base, note: `${refTitle(ref)} is successfully ${done}`, regarding: author, related: object },
    { ...base, note: `policy ${policy.key}/${rule} applied`, regarding: object, related: author },
  ];
}

function problem(note: string): Pick<EventNote, 'reason' | 'type' | 'action' | 'note'> {
  return { reason: 'PolicyError', type: 'Warning', action: 'None', note };
}

function subjectOf({ apiVersion, kind, namespace, name, uid }: ObjectRef): EventSubject {
  return {
    apiVersion,
    kind,
    name,
    ...(namespace === '' ? {} : { namespace }),
    ...(uid === undefined ? {} : { uid }),
  };
}
