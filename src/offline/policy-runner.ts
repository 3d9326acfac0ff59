import type { Environment } from '../expression/scope.ts';
import { stringifyJson } from '../json/json-text.ts';
import { isArray, type JsonObject, member } from '../json/value.ts';
import type { PolicyPlace, PolicyRunner } from '../kustomize/build-context.ts';
import { KustomizeError } from '../kustomize/kustomize-error.ts';
import { celCompilersFor } from '../policy/cel-documents.ts';
import type { SourceFile } from '../policy/documents.ts';
import { loadDocuments } from '../policy/load.ts';
import type { Problem } from '../problem.ts';
import { applyPolicies, type PolicyChange } from './apply-policies.ts';

/** What policies under `transformers` do besides changing objects. */
export interface PolicyReports {
  change?(change: PolicyChange): void;
  warning?(problem: Problem): void;
}

/** Runs policies that a kustomization lists under `transformers`. */
export function createPolicyRunner(environment: Environment, reports: PolicyReports = {}): PolicyRunner {
  return {
    async run(configs, objects, place) {
      const sources = configs.flatMap((config) => policySources(config, place));
      const loaded = loadDocuments(sources, { cel: await celCompilersFor(sources) });
      const [error] = loaded.problems.filter(({ severity }) => severity === 'error');
      if (error !== undefined) throw problemError(error);
      if (loaded.policies.length === 0) {
        const message = 'a transformer contains no policy to apply';
        throw new KustomizeError('KYM_KUSTOMIZATION_INVALID', message, {
          file: place.file,
          field: 'transformers',
        });
      }
      const outcome = await applyPolicies(loaded, objects, environment);
      const [failure] = outcome.failures;
      if (failure !== undefined) {
        throw new KustomizeError(failure.code, failure.message, { file: place.file, field: 'transformers' });
      }
      for (const warning of [...loaded.problems, ...outcome.warnings]) reports.warning?.(warning);
      for (const change of outcome.changes) reports.change?.(change);
      return outcome.objects;
    },
  };
}

/** A policy is its own source; a PolicyTransformer lists policy files, relative to the kustomization. */
function policySources(config: JsonObject, place: PolicyPlace): readonly SourceFile[] {
  if (member(config, 'kind') !== 'PolicyTransformer') {
    return [{ file: place.file, text: stringifyJson(config) }];
  }
  const files = member(config, 'policies');
  if (!isArray(files) || files.length === 0 || !files.every((file) => typeof file === 'string')) {
    throw new KustomizeError('KYM_KUSTOMIZATION_INVALID', 'a PolicyTransformer lists files under policies', {
      file: place.file,
      field: 'transformers: policies',
    });
  }
  return (files as readonly string[]).map((file, index) => ({
    file,
    text: place.readText(file, `transformers: policies[${index}]`),
  }));
}

function problemError({ code, message, file, pointer, hint }: Problem): KustomizeError {
  return new KustomizeError(code, message, { file, field: pointer, hint });
}
