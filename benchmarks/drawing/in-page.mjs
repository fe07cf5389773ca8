const VIEW = { width: 1600, height: 860 };

/** What a page says begins so in its console; the rest is JSON. */
export const SAYS = 'Said: ';

/** CPU seconds in so many milliseconds with which a browser is at rest. */
const REST = { cpu: 0.02, over: 300 };

/**
 * Until the browser has done what it does by itself when a window opens, such as loading its own menus and
 * suggestions: about a second on two cores, and no page's time.
 */
async function atRest(browser) {
  const session = await browser.newBrowserCDPSession();
  const cpu = async () => {
    const { processInfo } = await session.send('SystemInfo.getProcessInfo');
    return processInfo.reduce((sum, { cpuTime }) => sum + cpuTime, 0);
  };
  for (let before = -1, now = await cpu(), turn = 0; now - before > REST.cpu && turn < 50; turn++) {
    await new Promise(resolve => setTimeout(resolve, REST.over));
    [before, now] = [now, await cpu()];
  }
  await session.detach();
}

async function opened(browser, address, limit, before) {
  const context = await browser.newContext({ viewport: VIEW });
  const page = await context.newPage();
  await atRest(browser);
  page.setDefaultTimeout(limit);
  if (before) await page.addInitScript(before);
  let crashed;
  const crash = new Promise((_, reject) => {
    crashed = () => reject(new Error('the page crashed'));
  });
  crash.catch(() => {});
  page.on('crash', crashed);
  const said = new Promise(resolve => {
    page.on('console', message => {
      if (message.text().startsWith(SAYS)) resolve(JSON.parse(message.text().slice(SAYS.length)));
    });
  });
  await Promise.race([page.goto(address, { waitUntil: 'commit' }), crash]);
  return { page, said, crash, close: () => context.close() };
}

/**
 * Runs `work` in a fresh page, with a promise of what the page says, and `before` in it before anything else; a
 * crash or a time-out comes back as words.
 */
export async function inPage(browser, address, limit, work, before) {
  const { page, said, crash, close } = await opened(browser, address, limit, before);
  let timer;
  const late = new Promise((_, reject) => {
    timer = setTimeout(() => reject(new Error(`nothing within ${limit / 1000} s`)), limit);
  });
  try {
    return await Promise.race([work(page, said), crash, late]);
  } catch (error) {
    return { failed: String(error.message ?? error).split('\n')[0] };
  } finally {
    clearTimeout(timer);
    await Promise.race([close(), new Promise(resolve => setTimeout(resolve, 5000))]);
  }
}
