/**
 * Measures pages in one browser, ours and the peers' in turns; prints one JSON document.
 *
 *   node run.mjs '{"rounds": 3, "stream": [{"tasks": 10000, "report": FILE, "stream": FILE, "bokeh": FILE}]}'
 */
import { chromium } from 'playwright-core';
import { flameFrames, speedscopeFrames } from './flame.mjs';
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
for (let round = 0; plan.flame && round < plan.rounds; round++) {
  const { size, ours, flameChart, speedscope, profile } = plan.flame;
  const turns = [
    ['ours', () => flameFrames(browser, ours, size, plan.frames, LIMIT)],
    ['flame-chart-js', () => flameFrames(browser, flameChart, size, plan.frames, LIMIT)],
    ['speedscope', () => speedscopeFrames(browser, speedscope, profile, plan.frames, LIMIT)]
  ];
  const found = {};
  for (let turn = 0; turn < turns.length; turn++) {
    const [who, measure] = turns[(turn + round) % turns.length];
    found[who] = await measure();
    say(
      `flame graph, round ${round + 1}, ${who}: ${found[who].failed ?? `${Math.round(found[who].first)} ms`}`
    );
  }
  results.flame.push(found);
}
await browser.close();
process.stdout.write(JSON.stringify(results));
