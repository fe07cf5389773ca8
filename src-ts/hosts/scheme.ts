import { luminance } from '../draw/palette';
import { backgroundOf, watchTheme } from '../draw/theme';

/**
 * Tells the browser whether a host stands on a light or on a dark page, by the
 * page's own background, so that `light-dark()` and form controls follow the
 * theme of JupyterLab, VS Code, Colab or marimo alike. `own`: by that of the host,
 * where that does not follow from the scheme in its turn. Returns the stop.
 */
export function keepScheme(host: HTMLElement, own = false): () => void {
  const read = (): void => {
    const ground = backgroundOf(own ? host : (host.parentElement ?? document.body));
    host.style.colorScheme = luminance(ground) < 0.18 ? 'dark' : 'light';
  };
  read();
  return watchTheme(read);
}
