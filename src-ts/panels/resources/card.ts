import { clock, duration, moment, plural } from '../../core/format';
import type { Box } from '../../draw/pen';
import type { Mark, PanelContext } from '../panel';
import type { Row } from './draw-row';
import { processLabel, type ResourceFigures } from './figures';
import { type Measure, wordsOf } from './measures';

/**
 * What one process did at a moment: the row's figures first, then the others that are shown. Of several together
 * the row's alone, since not all can be summed.
 */
export function resourceMark(
  context: PanelContext,
  figures: ResourceFigures,
  row: Row,
  shown: readonly Measure[],
  process: number,
  place: { readonly time: number; readonly origin: number; readonly x: number; readonly box: Box }
): Mark {
  const { time, origin, x, box } = place;
  const name = row.series.names[process] ?? '';
  const label = name ? processLabel(context, name) : plural(figures.summed(row.series).length, 'worker');
  const lines = (measure: Measure): { label: string; value: string }[] =>
    measure.columns.map(({ column, label }) => ({
      label,
      value: wordsOf(measure, figures.at(measure, column, process, time))
    }));
  const others = shown.filter(measure => measure !== row.measure && measure.table === row.measure.table);
  return {
    id: `${row.measure.id}\n${name}\n${Math.round(x)}`,
    box: { ...box, x: x - 6, width: 12 },
    card: () => ({
      title: label,
      groups: [
        lines(row.measure),
        ...(name ? [among(figures, row, time), others.flatMap(lines)] : []),
        [
          { label: 'at', value: `${duration(time - origin)} (${clock(time)})`, tone: 'muted' as const },
          ...(name && label !== name
            ? [{ label: 'process', value: name, copy: name, tone: 'muted' as const }]
            : [])
        ]
      ]
    }),
    words: () => {
      const told = lines(row.measure).map(({ label, value }) => `${label} ${value}`);
      return `${label}: ${told.join(', ')}, at ${moment(time - origin, 3)}`;
    }
  };
}

/** The middle of all processes at a moment, to compare with; nothing where no others are known then. */
function among(figures: ResourceFigures, row: Row, time: number): { label: string; value: string }[] {
  const [{ column }] = row.measure.columns;
  const known = row.series.names
    .map((_, process) => figures.at(row.measure, column, process, time))
    .filter(value => !Number.isNaN(value))
    .sort((a, b) => a - b);
  if (known.length < 2) return [];
  const middle = (known[(known.length - 1) >> 1] + known[known.length >> 1]) / 2;
  return [
    {
      label: `median of ${plural(known.length, 'process', 'processes')}`,
      value: wordsOf(row.measure, middle)
    }
  ];
}
