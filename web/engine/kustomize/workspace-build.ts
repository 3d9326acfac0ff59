import { writesOf } from '../../../src/analysis/blame/blame.ts';
import { equal } from '../../../src/json/equal.ts';
import type { JsonObject } from '../../../src/json/value.ts';
import { printResources } from '../../../src/kustomize/build.ts';
import type { Resource as BuiltResource } from '../../../src/kustomize/resource/resource.ts';
import type { Evaluated } from '../../../src/offline/evaluator.ts';
import { titleOf, withoutDefaultNamespace } from '../../../src/offline/object-identity.ts';
import type { Resource } from '../../../src/offline/resource-documents.ts';
import type { BuildResult, SourceProblem } from '../evaluation.ts';
import { writerName } from '../explain.ts';
import type { SourceText } from '../workspace.ts';
import { buildFiles } from './build-files.ts';
import { createStageViews, type FinalResource, type StageViews } from './stage-views.ts';

/** A kustomization as the input of an evaluation. */
export interface WorkspaceBuild {
  /** The built resources: the objects that the policies receive. */
  readonly resources: readonly Resource[];
  /** Adds what the policies did, as `kymera build --policies` does. */
  finish(evaluated: readonly EvaluatedResource[], hasPolicies: boolean): FinishedBuild;
  readonly stages: StageViews | undefined;
  output(): string;
}

interface EvaluatedResource {
  readonly resource: Resource;
  readonly evaluated: Evaluated;
}

interface FinishedBuild {
  readonly result: BuildResult;
  readonly problems: readonly SourceProblem[];
}

export async function buildWorkspace(
  files: readonly SourceText[],
  folder: string,
  problems: SourceProblem[],
): Promise<WorkspaceBuild> {
  const built = await buildFiles(files, folder);
  problems.push(...built.problems);
  let stages: StageViews | undefined;
  let output = '';
  return {
    resources: built.resources.map(({ object }) => ({ object, file: '', line: 1, discovered: false })),
    get stages() {
      return stages;
    },
    finish(kept, hasPolicies) {
      const byObject = new Map(kept.map(({ resource, evaluated }) => [resource.object, evaluated]));
      const final = built.resources.map((resource) => finalResource(resource, byObject.get(resource.object)));
      const failures = kept.flatMap(failuresOf);
      const isBuilt = built.problems.every(({ severity }) => severity !== 'error');
      stages = createStageViews(
        built.stages,
        isBuilt ? { title: hasPolicies ? 'policies' : 'output', resources: final } : undefined,
      );
      // As on the command line, nothing is printed if a rule failed.
      const printed = final.map(({ resource, object }) => ({ ...resource, object }));
      output = failures.length > 0 ? '' : printResources(printed);
      return {
        result: { folder: built.folder, folders: built.folders, stages: stages.summaries },
        problems: failures,
      };
    },
    output: () => output,
  };
}

function finalResource(resource: BuiltResource, evaluated: Evaluated | undefined): FinalResource {
  if (evaluated === undefined) return { resource, object: resource.object, steps: [] };
  const result = withoutDefaultNamespace(evaluated.after, resource.object);
  const steps = writesOf(evaluated).map((write) => ({
    before: write.before as JsonObject,
    after: write.after,
    by: writerName(write),
  }));
  return { resource, object: equal(result, resource.object) ? resource.object : result, steps };
}

function failuresOf({ resource, evaluated }: EvaluatedResource): SourceProblem[] {
  return evaluated.outcomes.flatMap((outcome) => {
    if (outcome.status !== 'failed') return [];
    const { policy, rule, failure } = outcome;
    return [
      {
        code: failure.code,
        severity: 'error' as const,
        message: `${titleOf(resource.object)}: policy ${policy.key}, rule ${rule.name}: ${outcome.message}`,
        pointer: '',
        file: policy.source.file,
        line: policy.source.line,
        role: 'policies' as const,
      },
    ];
  });
}
