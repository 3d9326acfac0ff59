import { download } from '../state/download.ts';

interface Props {
  readonly text: string;
  readonly name: string;
  readonly label: string;
}

export function TextView({ text, name, label }: Props) {
  return (
    <>
      <div class="toolbar">
        <span class="muted">{label}</span>
        <div>
          <button
            type="button"
            class="button small"
            onClick={() => void navigator.clipboard?.writeText(text)}
          >
            Copy
          </button>
          <button
            type="button"
            class="button small"
            onClick={() => download(name, new TextEncoder().encode(text))}
          >
            Download
          </button>
        </div>
      </div>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a region that scrolls must be reachable by keyboard */}
      <pre class="text" tabIndex={0} aria-label={label} role="region">
        {text}
      </pre>
    </>
  );
}
