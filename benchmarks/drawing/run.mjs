/**
 * Measures pages in one browser, ours and the peers' in turns; prints one JSON document.
 *
 *   node run.mjs '{"rounds": 3, "stream": [{"tasks": 10000, "report": FILE, "stream": FILE, "bokeh": FILE}]}'
 */
import { chromium } from 'playwright-core';
import { bokehFirstPicture, bokehFrames, ourFirstPicture, ourFrames } from './stream.mjs';

const plan = JSON.parse(process.argv[2]);
const flags = ['--no-sandbox', '--disable-gpu', '--disable-dev-shm-usage'];
const browser = await chromium.launch({ executablePath: process.env.CHROMIUM_PATH, args: flags });

/** Most that one page may take, milliseconds. */
const LIMIT = 120_000;

const say = words => process.stderr.write(`${words}\n`);

const results = { browser: `Chromium ${browser.version()}`, stream: [], flame: [] };
for (let round = 0; round < plan.rounds; round++) {
  for (const [index, { tasks, report, stream, bokeh }] of plan.stream.entries()) {
    results.stream[index] ??= { tasks, rounds: [] };
    const ours = async () => ({
      first: await ourFirstPicture(browser, report, LIMIT),
      frames: await ourFrames(browser, stream, plan.frames, LIMIT)
    });
    const theirs = async () => {
      const first = await bokehFirstPicture(browser, bokeh, LIMIT);
      if (first.failed) return { first, frames: first };
      const few = Math.max(3, Math.min(plan.frames, Math.round(2e6 / tasks)));
      return { first, frames: await bokehFrames(browser, bokeh, few, 2 * LIMIT) };
    };
    const pair = {};
    const turns = round % 2 === 0 ? ['ours', 'bokeh'] : ['bokeh', 'ours'];
    for (const who of turns) {
      const gaveUp = who === 'bokeh' && results.stream[index].rounds.some(each => each.bokeh.first.failed);
      if (gaveUp) pair.bokeh = results.stream[index].rounds[0].bokeh;
      else pair[who] = await (who === 'ours' ? ours : theirs)();
      say(`${tasks} tasks, round ${round + 1}, ${who}: ${JSON.stringify(pair[who].first)}`);
    }
    results.stream[index].rounds.push(pair);
  }
}
await browser.close();
process.stdout.write(JSON.stringify(results));
