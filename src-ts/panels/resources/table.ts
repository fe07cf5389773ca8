import type { Recording } from '../../core/recording';
import type { TimeRange } from '../../core/selection';
import { firstAfter, type Series } from '../../core/series';
import type { TableRows } from '../panel';
import { type Measure, valuesOf, wordsOf } from './measures';

/** Mean and most of each measure, a row a process, within a stretch of time. */
export function resourceTable(
  recording: Recording,
  measures: readonly Measure[],
  series: { readonly resources: Series; readonly gpus: Series },
  time: TimeRange | undefined
): TableRows {
  const names = [...new Set([...series.resources.names, ...series.gpus.names])];
  const columns = measures.flatMap(measure =>
    measure.columns.flatMap(({ column, label }) => {
      const values = valuesOf(recording, measure, column);
      const own = series[measure.table];
      const figures = names.map(name =>
        figuresOf(own, own.names.indexOf(name), values, time, measure.scale ?? 1)
      );
      return [
        { title: `${label}, mean`, measure, values: figures.map(({ mean }) => mean) },
        { title: `${label}, most`, measure, values: figures.map(({ most }) => most) }
      ];
    })
  );
  return {
    columns: [{ title: 'Process' }, ...columns.map(({ title }) => ({ title, numeric: true }))],
    length: names.length,
    row: row => [names[row], ...columns.map(({ measure, values }) => wordsOf(measure, values[row]))],
    value: (row, column) => (column === 0 ? names[row] : columns[column - 1].values[row])
  };
}

function figuresOf(
  series: Series,
  process: number,
  values: ArrayLike<number>,
  time: TimeRange | undefined,
  scale: number
): { readonly mean: number; readonly most: number } {
  if (process < 0) return { mean: Number.NaN, most: Number.NaN };
  const begin = time ? firstAfter(series, process, time.start) : series.first[process];
  const end = time ? firstAfter(series, process, time.stop) : series.first[process + 1];
  let sum = 0;
  let count = 0;
  let most = Number.NaN;
  for (let at = begin; at < end; at++) {
    const value = values[series.rows[at]] * scale;
    if (Number.isNaN(value)) continue;
    sum += value;
    count++;
    if (!(value <= most)) most = value;
  }
  return { mean: count > 0 ? sum / count : Number.NaN, most };
}
