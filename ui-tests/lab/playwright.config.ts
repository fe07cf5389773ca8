import { defineConfig } from '@playwright/test';
import { chromium } from '../chromium';

/** The product in a real JupyterLab. Times are generous: they are reached on a machine that is busy otherwise. */
export default defineConfig({
  testDir: '.',
  projects: [
    { name: 'tests', testMatch: '*.spec.ts' },
    { name: 'screenshots', testMatch: 'screenshots.ts', retries: 0 }
  ],
  workers: 1,
  forbidOnly: Boolean(process.env.CI),
  retries: process.env.CI ? 2 : 0,
  timeout: 180_000,
  expect: { timeout: 45_000 },
  reporter: [['list']],
  outputDir: '../../test-results/lab',
  use: {
    viewport: { width: 1280, height: 800 },
    screenshot: 'only-on-failure',
    video: 'off',
    trace: 'off',
    launchOptions: chromium
  }
});
