import { drawn } from '../panels/icons';

/** What pages show around their panels, and a cell's output does not. */
const PATHS = {
  light:
    'M8 5a3 3 0 1 1 0 6a3 3 0 0 1 0-6M8 1.5v1.2M8 13.3v1.2M1.5 8h1.2M13.3 8h1.2M3.4 3.4l.9.9M11.7 11.7l.9.9M12.6 3.4l-.9.9M4.3 11.7l-.9.9',
  dark: 'M13.2 9.6A5.6 5.6 0 0 1 6.4 2.8a5.6 5.6 0 1 0 6.8 6.8',
  auto: 'M8 2.5a5.5 5.5 0 1 1 0 11a5.5 5.5 0 0 1 0-11M8 2.5v11M8.2 4.5h2.6M8.2 7h4.6M8.2 9.5h4.4M8.2 12h2',
  help: 'M8 1.8a6.2 6.2 0 1 1 0 12.4a6.2 6.2 0 0 1 0-12.4M6.2 6.3a1.9 1.9 0 1 1 2.7 1.7c-.6.3-.9.7-.9 1.3M8 11.2v.4'
};

export function pageIcon(name: keyof typeof PATHS): SVGElement {
  return drawn(PATHS[name]);
}
