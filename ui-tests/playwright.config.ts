import { defineConfig } from '@playwright/test';
import { chromium } from './chromium';

/** Most that a test is tried again where other work takes the machine's time. */
const again = (times: number): number => (process.env.CI ? times : 0);

/** What is drawn and said takes the browser's time, what lives in JupyterLab mostly waits: so they run side by side. */
export default defineConfig({
  globalSetup: './reports.ts',
  projects: [
    {
      // Its times are generous: they are reached on a machine that is busy otherwise.
      name: 'lab',
      testDir: 'lab',
      outputDir: '../test-results/lab',
      workers: 1,
      retries: again(2),
      timeout: 180_000,
      expect: { timeout: 45_000 }
    },
    {
      name: 'report',
      testIgnore: 'lab/**',
      outputDir: '../test-results/report',
      workers: 1,
      retries: again(1),
      timeout: 60_000,
      expect: { timeout: 15_000 }
    },
    {
      name: 'screenshots',
      testDir: 'lab',
      testMatch: 'screenshots.ts',
      outputDir: '../test-results/screenshots',
      expect: { timeout: 45_000 }
    }
  ],
  workers: 2,
  forbidOnly: Boolean(process.env.CI),
  reporter: [['list']],
  use: {
    viewport: { width: 1280, height: 800 },
    screenshot: 'only-on-failure',
    video: 'off',
    trace: 'off',
    launchOptions: chromium
  }
});
