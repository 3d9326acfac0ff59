import type { RefObject } from 'preact';
import { useLayoutEffect, useState } from 'preact/hooks';
import type { FieldEnd, ShownReplacement } from '../engine/evaluation.ts';
import { type Arrow, arrowPath, gutterWidth, layOut } from './arrow-layout.ts';
import { lineId } from './line-id.ts';
import { pointed } from './state.ts';

interface Props {
  readonly host: RefObject<HTMLDivElement | null>;
  readonly replacements: readonly ShownReplacement[];
}

/** Arrows from the line of the source to the lines of the targets. The list says the same as text. */
export function Arrows({ host, replacements }: Props) {
  const [arrows, setArrows] = useState<{ readonly all: readonly Arrow[]; readonly height: number }>();
  useLayoutEffect(() => {
    const element = host.current;
    if (element === null) return;
    const measure = () => {
      const top = element.getBoundingClientRect().top;
      const middleOf = ({ resource, line }: FieldEnd) => {
        const found = line === undefined ? null : document.getElementById(lineId(resource, line));
        const box = found?.getBoundingClientRect();
        // Long lines wrap: the arrow points at the first row.
        return box === undefined ? undefined : box.top - top + Math.min(box.height / 2, 10);
      };
      setArrows({ all: layOut(replacements, middleOf), height: element.scrollHeight });
    };
    measure();
    const observer = new ResizeObserver(measure);
    for (const child of [element, ...element.querySelectorAll('.stage-resource')]) observer.observe(child);
    return () => observer.disconnect();
  }, [replacements]);
  if (arrows === undefined) return null;
  return (
    <svg class="arrows" width={gutterWidth} height={arrows.height} aria-hidden="true">
      <title>Replacements</title>
      {arrows.all.map((arrow, index) => (
        <g
          key={index}
          class={`arrow hue-${arrow.of % 8} ${pointed.value === undefined ? '' : pointed.value === arrow.of ? 'active' : 'dim'}`}
        >
          <circle cx={gutterWidth - 3} cy={arrow.from} r="3" />
          <path d={arrowPath(arrow)} />
          <path class="head" d={`M${gutterWidth - 7},${arrow.to - 4} L${gutterWidth},${arrow.to} l-7,4 z`} />
        </g>
      ))}
    </svg>
  );
}
