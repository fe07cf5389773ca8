import type { IThemeManager } from '@jupyterlab/apputils';

/** Marks the page while a theme of high contrast is on; drawings and style sheets look at the mark. */
export function keepContrast(themes: IThemeManager): void {
  const mark = (): void => {
    const strong = /high.?contrast/i.test(themes.theme ?? '');
    document.body.dataset.diContrast = String(strong);
  };
  themes.themeChanged.connect(mark);
  mark();
}
