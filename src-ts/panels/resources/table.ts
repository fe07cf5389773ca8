import type { TimeRange } from '../../core/selection';
import { firstAfter, type Series } from '../../core/series';
import type { PanelContext, TableRows } from '../panel';
import { number, tableOf, text } from '../things';
import { processLabel, type ResourceFigures } from './figures';
import { type Measure, wordsOf } from './measures';

/** Mean and most of each measure, a row a process, within a stretch of time. */
export function resourceTable(
  context: PanelContext,
  measures: readonly Measure[],
  figures: ResourceFigures,
  time: TimeRange | undefined
): TableRows {
  const names = [...new Set(measures.flatMap(measure => figures.seriesOf(measure).names))];
  const columns = measures.flatMap(measure =>
    measure.columns.flatMap(({ column, label }) => {
      const values = figures.values(measure, column);
      const own = figures.seriesOf(measure);
      return (['mean', 'most'] as const).map(figure =>
        number<string>(
          `${label}, ${figure}`,
          name => figuresOf(own, own.names.indexOf(name), values, time)[figure],
          value => wordsOf(measure, value),
          measure.unit
        )
      );
    })
  );
  return tableOf(names, [text('Process', name => processLabel(context, name)), ...columns]);
}

/** Mean and most of a process within a stretch of time; NaN where nothing is known. */
export function figuresOf(
  series: Series,
  process: number,
  values: ArrayLike<number>,
  time: TimeRange | undefined
): { readonly mean: number; readonly most: number } {
  if (process < 0) return { mean: Number.NaN, most: Number.NaN };
  const begin = time ? firstAfter(series, process, time.start) : series.first[process];
  const end = time ? firstAfter(series, process, time.stop) : series.first[process + 1];
  let sum = 0;
  let count = 0;
  let most = Number.NaN;
  for (let at = begin; at < end; at++) {
    const value = values[series.rows[at]];
    if (Number.isNaN(value)) continue;
    sum += value;
    count++;
    if (!(value <= most)) most = value;
  }
  return { mean: count > 0 ? sum / count : Number.NaN, most };
}
