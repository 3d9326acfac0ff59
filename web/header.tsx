import { useState } from 'preact/hooks';
import { isGalleryOpen } from './gallery/dialog.tsx';
import { shareAddress } from './state/address.ts';
import { cycleTheme, theme } from './state/theme.ts';

export function Header() {
  const [copied, setCopied] = useState(false);
  const share = async () => {
    await shareAddress();
    setCopied(true);
    setTimeout(() => setCopied(false), 2_000);
  };
  return (
    <header class="header">
      <h1>
        <img src="./icon.svg" alt="" width="24" height="24" />
        Kymera <span class="light">playground</span>
      </h1>
      <p class="tagline">
        See what a policy does to an object, who wrote each line, and why. Nothing leaves your browser.
      </p>
      <div class="actions">
        <button
          type="button"
          class="button"
          onClick={() => {
            isGalleryOpen.value = true;
          }}
        >
          Gallery
        </button>
        <button type="button" class="button" onClick={() => void share()} aria-live="polite">
          {copied ? 'Link copied' : 'Share'}
        </button>
        <button
          type="button"
          class="button icon"
          onClick={cycleTheme}
          aria-label={`Theme: ${theme.value}`}
          title={`Theme: ${theme.value}`}
        >
          <span aria-hidden="true">{{ system: '◐', light: '☀', dark: '☾' }[theme.value]}</span>
        </button>
      </div>
    </header>
  );
}
