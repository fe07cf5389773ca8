import type { Contents } from '@jupyterlab/services';
import { Signal } from '@lumino/signaling';
import { expect, test } from 'vitest';
import { Hidden } from './hidden';
import type { Step } from './steps';

const STEPS: Step[] = [{ panel: 'memory', beside: 'notebook', where: 'right', share: 0.4 }];
const PLACE = { kind: 'notebook', path: 'a.ipynb' } as const;

/** A workspace's memory, as JupyterLab's. */
class Database {
  readonly values = new Map<string, string>();
  // biome-ignore lint/suspicious/noExplicitAny: as wide as the real one.
  async fetch(id: string): Promise<any> {
    const found = this.values.get(id);
    return found === undefined ? undefined : JSON.parse(found);
  }
  async save(id: string, value: unknown): Promise<void> {
    this.values.set(id, JSON.stringify(value));
  }
}

test('what is hidden is remembered by the workspace', async () => {
  const database = new Database();
  const before = new Hidden(database);
  before.add(PLACE, STEPS);
  before.add({ kind: 'console', path: 'c' }, STEPS);
  before.rename(PLACE, 'b.ipynb');
  before.remove({ kind: 'console', path: 'c' });
  before.add({ kind: 'console', path: 'empty' }, []);

  const after = new Hidden(database);
  let told = 0;
  after.changed.connect(() => told++);
  await after.restore();
  expect(after.all).toEqual([{ kind: 'notebook', path: 'b.ipynb', steps: STEPS }]);
  expect(told).toBe(1);
});

test('what was hidden before stays hidden when one of it was opened and is hidden again', () => {
  const hidden = new Hidden(null);
  const both: Step[] = [...STEPS, { panel: 'progress', beside: 'memory', where: 'tab', current: true }];
  hidden.add(PLACE, both);
  hidden.add(PLACE, [{ panel: 'progress', beside: 'notebook', where: 'right', share: 0.5 }]);
  expect(hidden.all).toEqual([{ ...PLACE, steps: both }]);
  const moved: Step[] = both.map(({ panel }) => ({ panel, beside: 'notebook', where: 'tab' }));
  hidden.add(PLACE, moved);
  expect(hidden.all).toEqual([{ ...PLACE, steps: moved }]);
});

test('what becomes of a notebook that is not open is kept up with', () => {
  const hidden = new Hidden(null);
  const fileChanged = new Signal<Contents.IManager, Contents.IChangedArgs>({} as Contents.IManager);
  hidden.follow({ fileChanged });
  hidden.add(PLACE, STEPS);
  hidden.add({ kind: 'notebook', path: 'gone.ipynb' }, STEPS);
  fileChanged.emit({ type: 'rename', oldValue: { path: 'a.ipynb' }, newValue: { path: 'b.ipynb' } });
  fileChanged.emit({ type: 'delete', oldValue: { path: 'gone.ipynb' }, newValue: null });
  fileChanged.emit({ type: 'save', oldValue: null, newValue: { path: 'b.ipynb' } });
  expect(hidden.all.map(({ path }) => path)).toEqual(['b.ipynb']);
  // Of a folder, only that is told.
  for (const path of ['old/in/c.ipynb', 'older/d.ipynb', 'gone/e.ipynb']) {
    hidden.add({ kind: 'notebook', path }, STEPS);
  }
  fileChanged.emit({ type: 'rename', oldValue: { path: 'old' }, newValue: { path: 'new' } });
  fileChanged.emit({ type: 'delete', oldValue: { path: 'gone' }, newValue: null });
  expect(hidden.all.map(({ path }) => path)).toEqual(['b.ipynb', 'older/d.ipynb', 'new/in/c.ipynb']);
});

test('what has been hidden meanwhile counts, not what the workspace remembers', async () => {
  const database = new Database();
  new Hidden(database).add(PLACE, STEPS);
  const hidden = new Hidden(database);
  const restored = hidden.restore();
  hidden.add({ kind: 'notebook', path: 'new.ipynb' }, STEPS);
  await restored;
  expect(hidden.all.map(({ path }) => path)).toEqual(['new.ipynb']);
});

test('what makes no sense in a workspace is left out; without one it works as long as the page', async () => {
  const database = new Database();
  const odd = [
    null,
    7,
    { kind: 'notebook', path: 3, steps: STEPS },
    { ...PLACE, steps: [{ panel: 7 }, { panel: 'none' }] }
  ];
  await database.save('dask-insight:hidden-panels', [...odd, { ...PLACE, steps: STEPS }]);
  const hidden = new Hidden(database);
  await hidden.restore();
  expect(hidden.all).toEqual([{ ...PLACE, steps: STEPS }]);

  const alone = new Hidden(null);
  await alone.restore();
  alone.add(PLACE, STEPS);
  expect(alone.all).toHaveLength(1);
});
