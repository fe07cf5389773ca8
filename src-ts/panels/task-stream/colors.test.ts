import { expect, test, vi } from 'vitest';
import * as palette from '../../draw/palette';
import { PLAIN } from '../../draw/theme';
import { FIRST_NAME, FULL } from './cells';
import { CellColors, nameColor } from './colors';
import { ACTIONS } from './phases';

vi.mock('../../draw/palette', { spy: true });

const NAMES = Array.from({ length: 500 }, (_, at) => `name-${at}`);
const full = (table: Uint32Array, name: number): number => table[(name + FIRST_NAME) * 64 + FULL];

test('a name is mixed once, whatever is pointed at; what steps back is as in lanes that do', () => {
  const names = [...NAMES];
  const colors = new palette.ColorRegistry();
  const cells = new CellColors(PLAIN, names, colors);
  const mixtures = vi.mocked(palette.mixtures);
  const { tasks } = cells.table(() => true, false);
  mixtures.mockClear();
  const pointed = cells.table(name => name === 'name-7', false);
  expect(mixtures.mock.calls.length).toBeLessThanOrEqual(ACTIONS.length);
  expect(full(pointed.tasks, 7)).toBe(full(tasks, 7));
  expect(full(pointed.tasks, 8)).toBe(full(pointed.dimmed, 8));
  expect(full(pointed.dimmed, 8)).not.toBe(full(tasks, 8));
  const [red, green, blue] = new Uint8Array(Uint32Array.of(full(tasks, 8)).buffer);
  expect(palette.css([red, green, blue])).toBe(nameColor('name-8', colors, PLAIN));
  mixtures.mockClear();
  names.push('new');
  const grown = cells.table(() => true, false);
  expect(mixtures.mock.calls.length).toBeLessThanOrEqual(ACTIONS.length + 2);
  expect(grown.tasks.slice(0, tasks.length)).toEqual(tasks);
  expect(full(grown.tasks, 500)).not.toBe(0);
});
