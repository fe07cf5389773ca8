/** Flame graphs of the same tree: how long frames take while a person pans. */
import { inPage } from './in-page.mjs';

const STEPS = [9, 9, 9, 9, 9, -9, -9, -9, -9, -9];

/** Milliseconds from one frame to the next while something is moved before each. */
function intervals({ steps, frames }) {
  return window.flame.then(async flame => {
    flame.zoomIn();
    for (let frame = 0; frame < 5; frame++) await new Promise(requestAnimationFrame);
    const times = [];
    let last = performance.now();
    for (let frame = 0; frame < frames; frame++) {
      flame.pan(steps[frame % steps.length]);
      await new Promise(requestAnimationFrame);
      const now = performance.now();
      times.push(now - last);
      last = now;
    }
    const work = flame.work
      ? Array.from({ length: frames }, (_, frame) => flame.work(steps[frame % steps.length]))
      : [];
    const search = flame.search
      ? ['merge_solve', 'package12', 'x', 'inner', 'chunk_a'].map(text => flame.search(text))
      : [];
    return { intervals: times, work, search };
  });
}

export function flameFrames(browser, file, size, frames, limit) {
  return inPage(browser, `file://${file}#size=${size}`, limit, async page => {
    await page.waitForFunction(() => window.flame);
    const first = await page.evaluate(() => window.flame.then(() => performance.now()));
    return { first, ...(await page.evaluate(intervals, { steps: STEPS, frames })) };
  });
}

/** Speedscope is driven as a person would, with the wheel; it has no other handle. */
export function speedscopeFrames(browser, index, profile, frames, limit) {
  return inPage(browser, `file://${index}#localProfilePath=${profile}`, limit, async page => {
    const shown = await page.waitForFunction(() => {
      const canvas = [...document.querySelectorAll('canvas')].find(each => each.width > 600);
      const loading = document.body.textContent?.includes('Loading');
      if (!canvas || loading || document.querySelectorAll('canvas').length < 2) return false;
      return performance.now();
    });
    const first = await shown.jsonValue();
    await page.evaluate(() => {
      const target = document.elementFromPoint(window.innerWidth / 2, window.innerHeight / 2);
      const box = target.getBoundingClientRect();
      const place = {
        clientX: box.left + box.width / 2,
        clientY: box.top + box.height / 2,
        bubbles: true,
        cancelable: true
      };
      const wheel = change => target.dispatchEvent(new WheelEvent('wheel', { ...place, ...change }));
      window.flame = Promise.resolve({
        zoomIn: () => {
          for (let step = 0; step < 4; step++) wheel({ deltaY: -100, ctrlKey: true });
        },
        pan: pixels => wheel({ deltaX: -pixels, deltaY: 0 })
      });
    });
    return { first, ...(await page.evaluate(intervals, { steps: STEPS, frames })) };
  });
}
