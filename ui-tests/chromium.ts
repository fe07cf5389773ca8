import { existsSync } from 'node:fs';
import { delimiter, join } from 'node:path';

/** The browser that the machine has: named by `CHROMIUM_PATH`, else the first found on `PATH`. */
function findChromium(): string | undefined {
  if (process.env.CHROMIUM_PATH) return process.env.CHROMIUM_PATH;
  const names = ['chromium', 'chromium-browser', 'google-chrome', 'google-chrome-stable'];
  const folders = (process.env.PATH ?? '').split(delimiter);
  return folders.flatMap(folder => names.map(name => join(folder, name))).find(existsSync);
}

const executablePath = findChromium();

/** How browsers are started, by tests, measurements and screenshots alike. */
export const chromium = {
  ...(executablePath ? { executablePath } : {}),
  args: ['--no-sandbox', '--disable-gpu', '--disable-dev-shm-usage']
};
