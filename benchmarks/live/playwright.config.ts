import { defineConfig } from '@playwright/test';
import { chromium } from '../../ui-tests/chromium';

/** The measurements of a live Lab, one file each; `python -m benchmarks.live` runs them and reads what they found. */
export default defineConfig({
  testDir: '.',
  testMatch: '*.measure.ts',
  workers: 1,
  timeout: 1_200_000,
  expect: { timeout: 120_000 },
  reporter: [['list']],
  outputDir: '../../test-results/live',
  use: { viewport: { width: 1600, height: 900 }, launchOptions: chromium }
});
