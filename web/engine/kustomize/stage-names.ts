import { dirname } from 'node:path';
import type { BuildStage, RecordedStage } from '../../../src/kustomize/trace.ts';
import { fieldPath } from '../../../src/offline/kustomize-problem.ts';
import type { FileLocation, StageSummary, WriterName } from '../evaluation.ts';

/** A file that a resource comes from, or the field of a kustomization that wrote a line. */
export function stageWriter(stage: BuildStage): WriterName {
  const { field = '', source } = stage;
  const at = fileAt(source) ?? fieldAt(stage);
  if (source !== undefined && /^resources\b/.test(field)) return { name: source, at };
  const file =
    source === undefined || source.startsWith('{') ? '' : ` (${source.slice(source.lastIndexOf('/') + 1)})`;
  return { name: `${fieldName(stage.file, titleOf(stage))}${file}`, at };
}

/** `overlays/prod › patches[0]`, or `prod/hosts.yaml[0]` in a file of replacements. */
export function fieldName(file: string, field: string): string {
  if (field.startsWith('[')) return `${file}${field}`;
  const folder = dirname(file);
  return folder === '.' ? field : `${folder} › ${field}`;
}

export function summaryOf(stage: RecordedStage): StageSummary {
  const { changes, joined, replacements } = stage;
  return {
    folder: dirname(stage.file),
    title: titleOf(stage),
    at: fieldAt(stage),
    source: fileAt(stage.source),
    added: changes.filter(({ before }) => before === undefined).length,
    changed: changes.filter(({ before, after }) => before !== undefined && after !== undefined).length,
    removed: changes.filter(({ after }) => after === undefined).length,
    joined: joined.length,
    replacements: replacements.length,
  };
}

function titleOf({ field, title }: BuildStage): string {
  return field ?? title ?? '';
}

export function fieldAt({ file, field }: BuildStage): FileLocation {
  return { role: 'files', file, line: 1, path: field === undefined ? [] : fieldPath(field) };
}

function fileAt(file: string | undefined): FileLocation | undefined {
  return file === undefined ? undefined : { role: 'files', file, line: 1, path: [] };
}
