import { bytes, clock, duration, moment } from '../../core/format';
import { figuresOfProcesses } from '../../core/of-processes';
import type { Recording } from '../../core/recording';
import type { TimeRange } from '../../core/selection';
import type { Box } from '../../draw/pen';
import type { Mark, TableRows } from '../panel';
import { figuresOf } from '../resources/table';
import { number, tableOf, text } from '../things';
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
    id: `${figures.series.names[processes[0]]}\n${Math.round(x)}`,
    box: { ...box, x: x - 6, width: 12 },
    card: () => ({
      title,
      groups: [
        [...MEASURES].reverse().map(({ column, label }) => ({ label, value: at(column) })),
        [
          { label: 'process', value: at('process') },
          {
            label: 'optimistic',
            value: bytes(
              figures.at('managed', processes, time) + figures.at('unmanaged_old', processes, time)
            )
          },
          { label: 'limit', value: bytes(figures.limitOf(processes)) }
        ],
        [{ label: 'at', value: `${duration(time - origin)} (${clock(time)})`, tone: 'muted' as const }]
      ]
    }),
    words: () => {
      const told = MEASURES.map(({ column, label }) => `${label} ${at(column)}`);
      return `${title}: ${told.join(', ')}, at ${moment(time - origin, 3)}`;
    }
  };
}

/** The most that each worker held that is looked at, within a time. */
export function memoryTable(
  figures: MemoryFigures,
  recording: Recording,
  time: TimeRange | undefined
): TableRows {
  const { series, included } = figures;
  const most = (column: MeasureName, label: string) =>
    number(
      `${label}, most`,
      (process: number) => figuresOf(series, process, figures.values(column), time).most,
      bytes
    );
  const held = figuresOfProcesses(recording, 'memory', time);
  return tableOf(included, [
    text('Worker', process => figures.titleOf([process])),
    number('process, most', process => held.get(series.names[process]) ?? Number.NaN, bytes),
    ...MEASURES.map(({ column, label }) => most(column, label)),
    number('limit', process => figures.limitOf([process]), bytes)
  ]);
}
