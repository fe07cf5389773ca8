import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { Perfetto } from './perfetto';
import { expect, test } from './report';
import { REPORTS } from './reports';

// What is exported for Perfetto and speedscope is read by Perfetto and speedscope.

interface TraceEvent {
  ph: string;
  name: string;
  cat?: string;
  ts: number;
  dur: number;
  pid: number;
  tid: number;
  args: Record<string, string | number>;
}

interface Frame {
  name: string;
  file?: string;
}

const path = (name: string) => join(REPORTS, name);

function written(name: string): TraceEvent[] {
  return JSON.parse(readFileSync(path(name), 'utf-8')).traceEvents;
}

test.use({ serviceWorkers: 'block' });

test('Perfetto finds every task, arrow, phase and counter of a run', async ({ page }) => {
  const perfetto = new Perfetto(page);
  await perfetto.open(path('real.trace.json'));
  const events = written('real.trace.json');
  const tasks = events.filter(event => event.ph === 'X');

  const troubles = "select name, value from stats where value != 0 and severity in ('error', 'data_loss')";
  expect(await perfetto.query(troubles)).toEqual([]);

  const slices = await perfetto.query(`
    select slice.name, ts / 1000 as ts, dur / 1000 as dur, process.pid, thread.tid, depth,
      extract_arg(slice.arg_set_id, 'args.key') as key
    from slice join thread_track on track_id = thread_track.id join thread using (utid) join process using (upid)
    order by key, ts`);
  const order = (one: TraceEvent, other: TraceEvent) =>
    one.args.key < other.args.key ? -1 : one.args.key > other.args.key ? 1 : one.ts - other.ts;
  expect(slices).toEqual(
    tasks.sort(order).map(({ name, ts, dur, pid, tid, args }) => {
      return { name, ts, dur, pid, tid, depth: 0, key: args.key };
    })
  );

  const [{ arrows }] = await perfetto.query('select count(*) as arrows from flow');
  expect(arrows).toBeGreaterThan(0);
  expect(arrows).toBe(events.filter(event => event.ph === 's').length);
  const joined = await perfetto.query(`
    select distinct before.name as made, after.name as used
    from flow join slice before on slice_out = before.id join slice after on slice_in = after.id
    where after.name = 'sum-partial'`);
  expect(joined.length).toBeGreaterThan(0);

  const [{ around }] = await perfetto.query(
    "select count(*) as around from slice where category in ('phase', 'transfer') and dur >= 0"
  );
  expect(around).toBe(events.filter(event => event.ph === 'b').length);

  const counters = await perfetto.query(`
    select pid, t.name, count(*) as n, max(value) as most
    from counter join process_counter_track t on track_id = t.id join process using (upid) group by pid, t.name`);
  for (const { pid, name, n, most } of counters) {
    const [, track, column] = /^(.*\)|tasks) (\w+)$/.exec(String(name)) as RegExpExecArray;
    const values = events
      .filter(event => event.ph === 'C' && event.pid === pid && event.name === track)
      .flatMap(({ args }) => (column in args ? [Number(args[column])] : []));
    expect({ name, n }).toEqual({ name, n: values.length });
    expect(Number(most)).toBeCloseTo(Math.max(...values), 6);
  }
  expect(counters.map(({ name }) => name)).toEqual(
    expect.arrayContaining(['CPU (%) cpu', 'memory (MB) managed', 'tasks executing'])
  );
});

test('Perfetto reads names that are meant to break it as text', async ({ page }) => {
  const perfetto = new Perfetto(page);
  await perfetto.open(path('hostile.trace.json'));
  const names = await perfetto.query("select distinct name from slice where category glob 'task,*'");
  const ours = new Set(written('hostile.trace.json').flatMap(({ ph, name }) => (ph === 'X' ? [name] : [])));
  // It leaves escaped control characters as they are written, and calls what has no name so.
  const read = (name: string) => JSON.stringify(name).slice(1, -1).replaceAll('\\"', '"') || '[No name]';
  expect(names.map(({ name }) => name).sort()).toEqual([...ours].map(read).sort());
  const processes = await perfetto.query('select name from process');
  expect(processes.some(({ name }) => /[\u0590-\u05ff]/.test(String(name)))).toBe(true);
});

test('speedscope shows the sampled functions with their seconds', async ({ page }) => {
  const release = dirname(createRequire(import.meta.url).resolve('speedscope/package.json'));
  await page.goto(pathToFileURL(join(release, 'dist', 'release', 'index.html')).href);
  await page.locator('input[type=file]').setInputFiles(path('real.speedscope.json'));
  const file = JSON.parse(readFileSync(path('real.speedscope.json'), 'utf-8'));
  const profile = file.profiles[file.activeProfileIndex];
  const place = `${profile.name} (${file.activeProfileIndex + 1}/${file.profiles.length})`;
  await expect(page.getByText(place)).toBeVisible();
  await page.getByText('Sandwich').click();
  await page.getByText('Total', { exact: true }).click();
  // The name of a task is the outermost frame of what was seen while such tasks ran.
  const frame = file.shared.frames.findIndex(({ name, file: source }: Frame) => name === 'spin' && !source);
  const inside = (stack: number[]) => stack[0] === frame;
  const seconds = profile.weights.filter((_: number, at: number) => inside(profile.samples[at]));
  const expected = seconds.reduce((sum: number, weight: number) => sum + weight, 0);
  expect(expected).toBeGreaterThan(0.1);
  const shown = await page.locator('tr', { hasText: /spin$/ }).allInnerTexts();
  const totals = shown.map(text => {
    const [, figure, unit] = /([\d.]+)(s|ms)/.exec(text) as RegExpExecArray;
    return Number(figure) / (unit === 's' ? 1 : 1000);
  });
  expect(Math.abs(Math.max(...totals) / expected - 1)).toBeLessThan(0.01);
});
