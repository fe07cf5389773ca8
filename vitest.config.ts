import { defineConfig } from 'vitest/config';

/** `core` knows no DOM, so its tests run without one. */
const withoutPage = ['src-ts/core/**/*.test.ts', 'src-ts/*.test.ts'];
const withPage = ['src-ts/{draw,panels,hosts}/**/*.test.ts', 'labextension/src/**/*.test.ts'];

export default defineConfig({
  test: {
    projects: [
      { test: { name: 'core', environment: 'node', include: withoutPage } },
      { test: { name: 'page', environment: 'happy-dom', include: withPage } }
    ]
  }
});
