/** The task stream in one page, ours or Bokeh's: how long frames take, and what can be seen. */
import { inPage, SAYS } from './in-page.mjs';

/** One part in so many of the run is shown. */
const ZOOMS = { whole: 1.1, 'one part in 16': 16, close: 1024 };

/** Pixels that the picture moves from one frame to the next, there and back. */
const STEPS = [7, 7, 7, 7, 7, -7, -7, -7, -7, -7];

/**
 * Runs in a page before all else: after each frame, when the browser has been given the picture to show, it
 * looks whether what is waited for is drawn by now, notes the milliseconds since the navigation began, and says
 * them when all are known.
 */
function watched(moments) {
  const body = Object.entries(moments).map(([name, is]) => `${name}: ${is}`);
  return `{
    const moments = {${body.join()}};
    const seen = {};
    const { port1, port2 } = new MessageChannel();
    const look = () => requestAnimationFrame(() => port2.postMessage(0));
    port1.onmessage = () => {
      for (const [name, is] of Object.entries(moments)) if (is()) seen[name] ??= performance.now();
      if (Object.keys(seen).length < Object.keys(moments).length) return look();
      port1.close();
      console.log('${SAYS}' + JSON.stringify(seen));
    };
    look();
  }`;
}

/** A canvas has the size that it had when it was made until something is drawn. */
const drawn = panel => `() => {
  const canvas = document.querySelector('.di-panel-${panel} canvas');
  return canvas !== null && canvas.width !== 300;
}`;

/** The time budget is drawn from sums at first, and over time when its rows have come. */
const COMPLETE = `document.querySelector('.di-panel-time-budget [aria-busy=true]') === null`;

/**
 * Milliseconds from the beginning of the navigation: `first` until the task stream is drawn, which is all
 * that the peer's page has; `window` until all that fills the window is; `opened` until the whole report is there.
 */
const OURS = watched({
  first: drawn('task-stream'),
  window: `() => (${drawn('task-stream')})() && (${drawn('time-budget')})() && ${COMPLETE}`,
  opened: "() => document.documentElement.dataset.opened === 'true'"
});

const BOKEHS = watched({ first: '() => window.Bokeh?.documents?.[0]?.is_idle === true' });

/** The page tells by itself: a question, and what Playwright puts into a page to ask it, takes time from the page. */
const moments = (_, said) => said;

export function ourFirstPicture(browser, file, limit) {
  return inPage(browser, `file://${file}`, limit, moments, OURS);
}

export function bokehFirstPicture(browser, file, limit) {
  return inPage(browser, `file://${file}`, limit, moments, BOKEHS);
}

export function ourFrames(browser, file, frames, limit) {
  return inPage(browser, `file://${file}`, limit, async page => {
    await page.waitForFunction(() => window.stream);
    return page.evaluate(
      async ({ zooms, steps, frames }) => {
        const stream = await window.stream;
        const results = {};
        for (const [name, zoom] of Object.entries(zooms)) {
          stream.show(zoom);
          stream.settle();
          const pan = Array.from({ length: frames }, (_, frame) => stream.pan(steps[frame % steps.length]));
          const inSight = stream.inSight();
          const rough = stream.erred();
          const zooming = Array.from({ length: frames }, (_, frame) =>
            stream.zoom(frame % 8 < 4 ? 0.9 : 1 / 0.9)
          );
          const moving = stream.erred();
          await new Promise(resolve => setTimeout(resolve, 200));
          const settle = stream.settle();
          const exact = stream.erred();
          const hover = stream.hover(500);
          results[name] = { pan, zooming, settle, hover, inSight, erred: [rough, moving, exact] };
        }
        return results;
      },
      { zooms: ZOOMS, steps: STEPS, frames }
    );
  });
}

export function bokehFrames(browser, file, frames, limit) {
  return inPage(browser, `file://${file}`, limit, async page => {
    await page.waitForFunction(() => window.Bokeh?.documents?.[0]?.is_idle);
    return page.evaluate(
      async ({ zooms, steps, frames }) => {
        const plot = window.Bokeh.documents[0].roots()[0];
        const view = window.Bokeh.index.get_by_id(plot.id);
        const range = plot.x_range;
        const whole = range.end - range.start;
        // One paint a frame: the one that is timed.
        view.throttled_paint = () => Promise.resolve();
        const canvas = view.canvas_view.primary.ctx;
        const paint = () => {
          const began = performance.now();
          view.request_paint();
          view.paint();
          canvas.getImageData(0, 0, 1, 1);
          return performance.now() - began;
        };
        const results = {};
        for (const [name, zoom] of Object.entries(zooms)) {
          const span = whole / zoom;
          let start = (whole - span) / 2;
          const perPixel = span / view.frame.bbox.width;
          range.setv({ start, end: start + span });
          paint();
          results[name] = {
            pan: Array.from({ length: frames }, (_, frame) => {
              const began = performance.now();
              start += steps[frame % steps.length] * perPixel;
              range.setv({ start, end: start + span });
              return performance.now() - began + paint();
            })
          };
        }
        return results;
      },
      { zooms: ZOOMS, steps: STEPS, frames }
    );
  });
}
