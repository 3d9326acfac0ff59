import { type JsonObject, member } from '../../json/value.ts';
import type { BuildContext } from '../build-context.ts';
import { decode, type Shape } from '../kustomization/decode.ts';
import type { PatchEntry, ReplacementEntry } from '../kustomization/kustomization.ts';
import { patchShape, replacementShape } from '../kustomization/kustomization-shape.ts';
import { KustomizeError } from '../kustomize-error.ts';
import type { BuiltinTransformer } from '../plugins/builtin-plugins.ts';
import { applyReplacements } from '../transformers/replacement-stage.ts';
import { applyJson6902Patches, applyPatch, applyStrategicMergePatches } from './stage.ts';

/** The built-in transformers for patches and replacements, as configs of `apiVersion: builtin` name them. */
export const patchTransformers: ReadonlyMap<string, BuiltinTransformer> = new Map<string, BuiltinTransformer>(
  [
    [
      'PatchTransformer',
      (set, config, context) =>
        applyPatch(set, read<PatchEntry>(config, patchShape, context), 'PatchTransformer', context),
    ],
    [
      'PatchStrategicMergeTransformer',
      (set, config, context) => {
        const shape: Shape = { fields: { paths: { list: 'text' }, patches: 'text' } };
        const { paths = [], patches = '' } = read<{
          paths?: readonly string[] | undefined;
          patches?: string | undefined;
        }>(config, shape, context);
        if (paths.length === 0 && patches === '') {
          throw new KustomizeError('KYM_KUSTOMIZATION_INVALID', 'neither paths nor patches is set', {
            file: context.folder.file,
            field: 'PatchStrategicMergeTransformer',
          });
        }
        applyStrategicMergePatches(set, patches === '' ? paths : [...paths, `${patches}\n`], context);
      },
    ],
    [
      'PatchJson6902Transformer',
      (set, config, context) => {
        const { jsonOp, ...entry } = read<PatchEntry & { jsonOp?: string | undefined }>(
          config,
          jsonShape,
          context,
        );
        applyJson6902Patches(set, [jsonOp === undefined ? entry : { ...entry, patch: jsonOp }], context);
      },
    ],
    [
      'ReplacementTransformer',
      (set, config, context) => {
        const shape: Shape = { fields: { replacements: { list: replacementShape } } };
        const { replacements = [] } = read<{ replacements?: readonly ReplacementEntry[] | undefined }>(
          config,
          shape,
          context,
        );
        applyReplacements(set, replacements, context);
      },
    ],
  ],
);

const jsonShape: Shape = {
  fields: {
    path: 'text',
    jsonOp: 'text',
    target: (patchShape as Extract<Shape, { fields: unknown }>).fields['target'] as Shape,
  },
};

/** Fields that the shape does not know are those of any config: apiVersion, kind, metadata. */
function read<T>(config: JsonObject, shape: Shape, context: BuildContext): T {
  const name = String(member(config, 'kind') ?? '');
  return (decode(config, shape, name, { file: context.folder.file, lenient: true }) ?? {}) as T;
}
