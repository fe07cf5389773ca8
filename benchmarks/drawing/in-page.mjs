const VIEW = { width: 1600, height: 860 };

async function opened(browser, address, limit, before) {
  const context = await browser.newContext({ viewport: VIEW });
  const page = await context.newPage();
  page.setDefaultTimeout(limit);
  if (before) await page.addInitScript(before);
  let crashed;
  const crash = new Promise((_, reject) => {
    crashed = () => reject(new Error('the page crashed'));
  });
  crash.catch(() => {});
  page.on('crash', crashed);
  await Promise.race([page.goto(address, { waitUntil: 'commit' }), crash]);
  return { page, crash, close: () => context.close() };
}

/** Runs `work` in a fresh page, and `before` in it before anything else; a crash or a time-out comes back as words. */
export async function inPage(browser, address, limit, work, before) {
  const { page, crash, close } = await opened(browser, address, limit, before);
  let timer;
  const late = new Promise((_, reject) => {
    timer = setTimeout(() => reject(new Error(`nothing within ${limit / 1000} s`)), limit);
  });
  try {
    return await Promise.race([work(page), crash, late]);
  } catch (error) {
    return { failed: String(error.message ?? error).split('\n')[0] };
  } finally {
    clearTimeout(timer);
    await Promise.race([close(), new Promise(resolve => setTimeout(resolve, 5000))]);
  }
}
