import { defineConfig } from '@playwright/test';
import { chromium } from './chromium';

export default defineConfig({
  testDir: '.',
  testIgnore: 'lab/**',
  globalSetup: './make-reports.ts',
  workers: 1,
  forbidOnly: Boolean(process.env.CI),
  retries: process.env.CI ? 1 : 0,
  timeout: 60_000,
  expect: { timeout: 15_000 },
  reporter: [['list']],
  outputDir: '../test-results',
  use: {
    viewport: { width: 1280, height: 800 },
    screenshot: 'only-on-failure',
    video: 'off',
    trace: 'off',
    launchOptions: chromium
  }
});
