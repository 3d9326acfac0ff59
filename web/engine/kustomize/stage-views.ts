import { blameSteps, type Step } from '../../../src/analysis/blame/blame.ts';
import { type BlamedLine, blameLines } from '../../../src/analysis/blame/lines.ts';
import type { JsonObject } from '../../../src/json/value.ts';
import { idOf, type Resource } from '../../../src/kustomize/resource/resource.ts';
import type { RecordedStage } from '../../../src/kustomize/trace.ts';
import { printYaml } from '../../../src/kustomize/yaml/print.ts';
import type { DiffLine, StageResource, StageSummary, StageView, WriterName } from '../evaluation.ts';
import { showReplacements } from './replacements.ts';
import { stageWriter, summaryOf } from './stage-names.ts';

/** The last stage: the output, with what the policies changed. */
export interface FinalStage {
  readonly title: string;
  /** In output order. */
  readonly resources: readonly FinalResource[];
}

export interface FinalResource {
  readonly resource: Resource;
  /** After the policies. */
  readonly object: JsonObject;
  /** What the rules did. */
  readonly steps: readonly Step<WriterName>[];
}

export interface StageViews {
  readonly summaries: readonly StageSummary[];
  /** Stage `index`, or the final one for the number of stages. */
  view(index: number): StageView;
  linesOf(index: number, resource: number): readonly DiffLine[];
}

/** More resources than these are shown when the user opens them. */
const mostShown = 100;

interface Shown {
  readonly resource: Resource;
  readonly status: StageResource['status'];
  readonly before?: JsonObject | undefined;
  readonly after?: JsonObject | undefined;
  /** What the stage did to it. */
  readonly steps: readonly Step<WriterName>[];
}

export function createStageViews(
  stages: readonly RecordedStage[],
  final: FinalStage | undefined,
): StageViews {
  const writers = stages.map(stageWriter);

  function shownAt(index: number): readonly Shown[] {
    const stage = stages[index];
    if (stage !== undefined) return shownResources(stage, writers[index] as WriterName);
    return (final?.resources ?? []).map(({ resource, object, steps }) => ({
      resource,
      status: object === resource.object ? 'same' : 'changed',
      before: resource.object,
      after: object,
      steps,
    }));
  }

  /** What all stages up to this one did to a resource. */
  function historyOf(index: number, { resource, steps }: Shown): readonly Step<WriterName>[] {
    const earlier = stages
      .slice(0, index)
      .flatMap(({ changes }, at) =>
        changes
          .filter((change) => change.resource === resource)
          .map(({ before = {}, after = {} }) => ({ before, after, by: writers[at] as WriterName })),
      );
    return [...earlier, ...steps];
  }

  function blamedLines(
    index: number,
    shown: Shown,
  ): readonly (DiffLine & { readonly pointers: readonly string[] })[] {
    const { before, after, steps } = shown;
    const history = after === undefined ? [] : historyOf(index, shown);
    const written =
      after === undefined ? [] : blameLines(blameSteps({}, history, after), '', printYaml(after));
    const changes = blameLines(
      blameSteps(before ?? {}, steps, after ?? {}),
      before === undefined ? '' : printYaml(before),
      after === undefined ? '' : printYaml(after),
    );
    return changes.map((line) => withWriters(line, written));
  }

  return {
    summaries: [...stages.map(summaryOf), ...(final === undefined ? [] : [finalSummary(final)])],
    view(index) {
      const shown = shownAt(index);
      const isFinal = index >= stages.length;
      const replaced = isFinal ? stages : stages.slice(index, index + 1);
      const ends = new Set(
        replaced.flatMap(({ replacements }) =>
          replacements.flatMap(({ source, targets }) => [source, ...targets].map((end) => end?.resource)),
        ),
      );
      let left = mostShown;
      const lines = shown.map((one) => {
        const isConcerned = isFinal || one.status !== 'same' || ends.has(one.resource);
        return isConcerned && left-- > 0 ? blamedLines(index, one) : undefined;
      });
      return {
        resources: shown.map((one, at) => ({ title: titleOf(one), status: one.status, lines: lines[at] })),
        replacements: showReplacements(
          replaced,
          shown.map(({ resource, after }, at) => ({ resource, object: after, lines: lines[at] ?? [] })),
        ),
      };
    },
    linesOf(index, resource) {
      const shown = shownAt(index)[resource];
      return shown === undefined ? [] : blamedLines(index, shown);
    },
  };
}

function shownResources(stage: RecordedStage, by: WriterName): readonly Shown[] {
  const changed = new Map(stage.changes.map((change) => [change.resource, change]));
  const joined = new Set(stage.joined.map(({ resource }) => resource));
  const present = stage.resources.map(({ resource, object }): Shown => {
    const change = changed.get(resource);
    if (change === undefined) {
      const status = joined.has(resource) ? 'joined' : 'same';
      return { resource, status, before: object, after: object, steps: [] };
    }
    const { before } = change;
    const steps = [{ before: before ?? {}, after: object, by }];
    return { resource, status: before === undefined ? 'added' : 'changed', before, after: object, steps };
  });
  const removed = stage.changes.flatMap(({ resource, before, after }): Shown[] =>
    after !== undefined || before === undefined
      ? []
      : [{ resource, status: 'removed', before, steps: [{ before, after: {}, by }] }],
  );
  return [...present, ...removed];
}

/** Every line of the new text names its writer; a removed line names who removed it. */
function withWriters(line: BlamedLine<WriterName>, written: readonly BlamedLine<WriterName>[]) {
  const { kind, text, before, after, pointers } = line;
  const writers = after === undefined ? line.writers : (written[after - 1]?.writers ?? []);
  return { kind, text, before, after, pointers, writers };
}

function titleOf({ before, after }: Shown): string {
  const { kind, namespace, name } = idOf(after ?? before ?? {});
  return `${kind} ${namespace === '' ? '' : `${namespace}/`}${name}`;
}

function finalSummary({ title, resources }: FinalStage): StageSummary {
  const changed = resources.filter(({ resource, object }) => object !== resource.object).length;
  return { folder: '', title, added: 0, changed, removed: 0, joined: 0, replacements: 0 };
}
