import { chosenPalette, css, luminance, mixed, type Palette, type Rgb } from './palette';

/** The few colours and the font that drawings use; read from the page that they stand in. */
export interface Theme {
  readonly dark: boolean;
  readonly contrast: boolean;
  /** Which colours names have. */
  readonly palette: Palette;
  readonly background: Rgb;
  readonly backgroundText: string;
  /** Three greys, from the strongest. */
  readonly text: string;
  readonly muted: string;
  readonly faint: string;
  /** Grid lines, barely there. */
  readonly grid: string;
  readonly gridColor: Rgb;
  readonly accent: string;
  /** Family only; sizes are the drawing's. */
  readonly font: string;
}

const FONT = 'system-ui, -apple-system, "Segoe UI", Roboto, "Helvetica Neue", "Noto Sans", sans-serif';

/** What is drawn with before a drawing stands in its page. */
export const PLAIN: Theme = {
  dark: false,
  contrast: false,
  palette: 'standard',
  background: [255, 255, 255],
  backgroundText: '#fff',
  text: '#15181c',
  muted: '#59616b',
  faint: '#b0b6bd',
  grid: '#eee',
  gridColor: [238, 238, 238],
  accent: '#1a66c9',
  font: FONT
};

/** The theme at an element: its background decides between light and dark. */
export function themeOf(element: Element): Theme {
  const background = backgroundOf(element);
  const style = getComputedStyle(element);
  const contrast =
    matches('(prefers-contrast: more)') || matches('(forced-colors: active)') || hasContrastTheme();
  const dark = luminance(background) < 0.18;
  const ink: Rgb = dark ? [255, 255, 255] : [0, 0, 0];
  const grey = (share: number): string => css(mixed(background, ink, share));
  const gridColor = mixed(background, ink, dark ? (contrast ? 0.16 : 0.009) : contrast ? 0.3 : 0.1);
  const named = (name: string): string => style.getPropertyValue(name).trim();
  return {
    dark,
    contrast,
    palette: chosenPalette(),
    background,
    backgroundText: css(background),
    text: grey(dark ? (contrast ? 1 : 0.78) : contrast ? 1 : 0.985),
    muted: grey(dark ? (contrast ? 0.8 : 0.36) : contrast ? 0.95 : 0.88),
    faint: grey(dark ? (contrast ? 0.5 : 0.16) : contrast ? 0.8 : 0.55),
    grid: css(gridColor),
    gridColor,
    accent: named('--di-accent') || named('--jp-brand-color1') || (dark ? '#6cb6ff' : '#1a66c9'),
    font: named('--jp-ui-font-family') || FONT
  };
}

/** JupyterLab and VS Code name their high-contrast themes so. */
function hasContrastTheme(): boolean {
  const { jpThemeName = '', vscodeThemeKind = '' } = document.body.dataset;
  return /high.?contrast/i.test(`${jpThemeName} ${vscodeThemeKind}`);
}

function matches(query: string): boolean {
  return typeof matchMedia === 'function' && matchMedia(query).matches;
}

/** The colour that an element stands on. */
export function backgroundOf(element: Element): Rgb {
  const [red, green, blue, opacity = 1] = parsed(getComputedStyle(element).backgroundColor);
  if (opacity === 1) return [red, green, blue];
  const parent = around(element);
  const under: Rgb = parent
    ? backgroundOf(parent)
    : matches('(prefers-color-scheme: dark)')
      ? [24, 26, 30]
      : [255, 255, 255];
  // As browsers lay one over the other.
  const over = (value: number, below: number): number => opacity * value + (1 - opacity) * below;
  return [over(red, under[0]), over(green, under[1]), over(blue, under[2])];
}

/** What an element stands in, also across the boundary of a shadow tree. */
function around(element: Element): Element | null {
  const root = element.getRootNode();
  return element.parentElement ?? (root instanceof ShadowRoot ? root.host : null);
}

/**
 * `rgb(…)`, `color(srgb …)` or `#…` to numbers, the fourth of which is how opaque it is; what cannot be
 * read is transparent.
 */
function parsed(text: string): number[] {
  const hex = /^#([0-9a-f]{6})$/i.exec(text);
  if (hex) {
    const value = Number.parseInt(hex[1], 16);
    return [value >> 16, (value >> 8) & 255, value & 255];
  }
  const [, kind, parts] = /^(rgba?\(|color\(srgb )([^)]+)\)$/.exec(text) ?? [];
  // Browsers put a mixture of colours, as marimo's ground is one, into the second form.
  const most = kind?.endsWith(' ') ? 255 : 1;
  return parts?.split(/[\s,/]+/).map((part, at) => (at < 3 ? most : 1) * +part) ?? [0, 0, 0, 0];
}

/** Tells when the page's theme may have changed. Returns the stop. */
export function watchTheme(callback: () => void): () => void {
  const queries = ['(prefers-color-scheme: dark)', '(prefers-contrast: more)', '(forced-colors: active)'].map(
    query => matchMedia(query)
  );
  for (const query of queries) query.addEventListener('change', callback);
  const observer = new MutationObserver(callback);
  const options = {
    attributes: true,
    attributeFilter: [
      'class',
      'style',
      'theme',
      'data-theme',
      'data-jp-theme-name',
      'data-vscode-theme-kind',
      'data-di-palette'
    ]
  };
  observer.observe(document.documentElement, options);
  observer.observe(document.body, options);
  return () => {
    for (const query of queries) query.removeEventListener('change', callback);
    observer.disconnect();
  };
}
