import { defineConfig } from 'vitest/config';

/** `core` knows no DOM, so its tests run without one. */
const coreTests = ['core/**/*.test.ts', '*.test.ts'];

export default defineConfig({
  test: {
    projects: [
      { test: { name: 'core', environment: 'node', include: coreTests } },
      { test: { name: 'page', environment: 'happy-dom', include: ['{draw,panels,hosts}/**/*.test.ts'] } }
    ]
  }
});
