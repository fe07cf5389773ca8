import { test as base, expect } from '@playwright/test';
import { Lab } from './lab';
import { LabServer } from './server';

export { expect };

interface OfWorker {
  /** One server for all tests. */
  server: LabServer;
  /** One page of Lab for all tests that need no other: its first paint takes many seconds. */
  desk: Lab;
}

interface OfTest {
  /** Lab with nothing open. */
  lab: Lab;
}

export const test = base.extend<OfTest, OfWorker>({
  server: [
    async ({}, use) => {
      const server = await LabServer.start();
      await use(server);
      await server.stop();
    },
    { scope: 'worker', timeout: 150_000 }
  ],

  desk: [
    async ({ browser, server }, use) => {
      const context = await browser.newContext({ viewport: { width: 1280, height: 800 } });
      await use(await Lab.start(context, server));
      await context.close();
    },
    { scope: 'worker', timeout: 200_000 }
  ],

  lab: async ({ desk }, use) => {
    desk.problems.length = 0;
    await use(desk);
    await desk.expectClean();
    await desk.clear();
  }
});
