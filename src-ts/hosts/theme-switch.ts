import { button, setSign } from '../panels/element';
import { pageIcon } from './icons';

const THEMES = ['auto', 'light', 'dark'] as const;
type ThemeName = (typeof THEMES)[number];

const WORDS: Readonly<Record<ThemeName, string>> = {
  auto: 'Theme: as the system has it',
  light: 'Theme: light',
  dark: 'Theme: dark'
};

const KEY = 'dask-insight-theme';

/** A button that goes from the system's theme to light to dark; the choice is remembered where that is allowed. */
export function themeSwitch(): HTMLElement {
  let theme = remembered();
  const made = button(
    WORDS[theme],
    () => {
      theme = THEMES[(THEMES.indexOf(theme) + 1) % THEMES.length];
      remember(theme);
      show();
    },
    pageIcon(theme)
  );
  const show = (): void => {
    if (theme === 'auto') delete document.documentElement.dataset.theme;
    else document.documentElement.dataset.theme = theme;
    setSign(made, WORDS[theme], pageIcon(theme));
  };
  show();
  return made;
}

function remembered(): ThemeName {
  try {
    const found = localStorage.getItem(KEY);
    return THEMES.find(theme => theme === found) ?? 'auto';
  } catch {
    return 'auto';
  }
}

function remember(theme: ThemeName): void {
  try {
    localStorage.setItem(KEY, theme);
  } catch {
    // Pages inside a sandbox have no storage.
  }
}
