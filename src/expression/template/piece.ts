import type { Json } from '../../json/value.ts';
import type { Scope } from '../scope.ts';

/** A part of a template: known when it is loaded, or rendered for every request. */
export type TemplatePiece =
  | { readonly value: Json; readonly render?: undefined }
  | { readonly render: (scope: Scope) => Json };

/** A list: what is constant in it is shared by every rendering. */
export function listPiece(list: readonly Json[], pieces: readonly TemplatePiece[]): TemplatePiece {
  const base = pieces.map((piece) => (piece.render === undefined ? piece.value : null));
  const dynamic = pieces.flatMap((piece, index) =>
    piece.render === undefined ? [] : [{ index, render: piece.render }],
  );
  if (dynamic.length === 0) return { value: base.every((item, index) => item === list[index]) ? list : base };
  return {
    render(scope) {
      const result = base.slice();
      for (const { index, render } of dynamic) result[index] = render(scope);
      return result;
    },
  };
}
