import { bytes, clock, duration } from '../../core/format';
import type { TimeRange } from '../../core/selection';
import { firstAfter } from '../../core/series';
import type { Box } from '../../draw/pen';
import type { Mark, TableRows } from '../panel';
import { MEASURES, type MeasureName, type MemoryColumn, type MemoryFigures } from './figures';

/** What some workers held at a moment. */
export function memoryMark(
  figures: MemoryFigures,
  processes: readonly number[],
  time: number,
  origin: number,
  x: number,
  box: Box
): Mark {
  const title = figures.titleOf(processes);
  const at = (column: MemoryColumn): string => bytes(figures.at(column, processes, time));
  return {
    id: `${processes.map(process => figures.series.names[process]).join()}\n${Math.round(x)}`,
    box: { x: x - 6, y: box.y, width: 12, height: box.height },
    card: () => ({
      title,
      groups: [
        [...MEASURES].reverse().map(({ column, label }) => ({ label, value: at(column) })),
        [
          { label: 'process', value: at('process') },
          { label: 'limit', value: bytes(figures.limitOf(processes)) }
        ],
        [{ label: 'at', value: `${duration(time - origin)} (${clock(time)})`, tone: 'muted' as const }]
      ]
    }),
    words: () => `${title}: ${MEASURES.map(({ column, label }) => `${label} ${at(column)}`).join(', ')}`
  };
}

/** The most that each worker held that is looked at, within a time. */
export function memoryTable(figures: MemoryFigures, time: TimeRange | undefined): TableRows {
  const { series, included } = figures;
  const columns = ['process', ...MEASURES.map(({ column }) => column)] as const;
  const most = included.map(process => {
    const begin = time ? firstAfter(series, process, time.start) : series.first[process];
    const end = time ? firstAfter(series, process, time.stop) : series.first[process + 1];
    const held = columns.map(column => {
      const values = figures.values(column as MeasureName);
      let highest = Number.NaN;
      for (let at = begin; at < end; at++) {
        const value = values[series.rows[at]];
        if (!(value <= highest)) highest = value;
      }
      return highest;
    });
    return [...held, figures.limitOf([process])];
  });
  const titles = ['process, most', ...MEASURES.map(({ label }) => `${label}, most`)];
  return {
    columns: [
      { title: 'Worker' },
      ...titles.map(title => ({ title, numeric: true })),
      { title: 'limit', numeric: true }
    ],
    length: most.length,
    row: row => [series.names[included[row]], ...most[row].map(bytes)],
    value: (row, column) => (column === 0 ? series.names[included[row]] : most[row][column - 1])
  };
}
