import { effect, signal } from '@preact/signals';

export type Theme = 'system' | 'light' | 'dark';
const themes: readonly Theme[] = ['system', 'light', 'dark'];
const storageKey = 'kymera-theme';

export const theme = signal<Theme>(storedTheme());
const prefersDark = matchMedia('(prefers-color-scheme: dark)');
export const isDark = signal(prefersDark.matches);

export function cycleTheme(): void {
  theme.value = themes[(themes.indexOf(theme.value) + 1) % themes.length] ?? 'system';
}

function storedTheme(): Theme {
  try {
    return themes.find((known) => known === localStorage.getItem(storageKey)) ?? 'system';
  } catch {
    // Storage may be disabled.
    return 'system';
  }
}

function applyTheme(): void {
  isDark.value = theme.value === 'system' ? prefersDark.matches : theme.value === 'dark';
  document.documentElement.dataset['theme'] = isDark.value ? 'dark' : 'light';
  try {
    localStorage.setItem(storageKey, theme.value);
  } catch {
    // As above.
  }
}

effect(applyTheme);
prefersDark.addEventListener('change', applyTheme);
