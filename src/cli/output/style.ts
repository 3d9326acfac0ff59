import { styleText } from 'node:util';
import { type Paint, plain } from '../../offline/output/paint.ts';
import type { Io, Output } from '../io.ts';

const painted: Paint = (style, text) => styleText([style].flat(), text, painting);
// Node 22 checks the stream itself; the decision was made here.
const painting = { validateStream: false };

/** Terminals get colors unless NO_COLOR or --no-color is set. FORCE_COLOR adds colors to every output. */
export function paintFor(output: Output, io: Pick<Io, 'env'>, wanted: boolean | undefined): Paint {
  if (wanted === false) return plain;
  const { NO_COLOR, FORCE_COLOR, TERM } = io.env;
  if (FORCE_COLOR !== undefined && FORCE_COLOR !== '' && FORCE_COLOR !== '0') return painted;
  if ((NO_COLOR !== undefined && NO_COLOR !== '') || FORCE_COLOR === '0' || TERM === 'dumb') return plain;
  return output.isTTY ? painted : plain;
}
