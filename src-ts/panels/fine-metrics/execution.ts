import { ratesOf } from '../../core/fine-metrics';
import { amount } from '../../core/format';
import { css } from '../../draw/palette';
import type { Layered, Part } from '../layer-chart';
import { COARSE, peakOf, stacked } from '../layers';
import type { PanelContext } from '../panel';
import { activityColor } from './colors';
import { activityWords } from './words';

/** What task functions took of a unit each second, by activity. */
export class Execution implements Layered {
  /** 0 where there is nothing that differs over time. */
  most = 0;
  private unit = '';
  private chosen = '';

  constructor(private readonly context: PanelContext) {}

  /** Reads what is chosen by now. */
  read(unit: string): void {
    const { recording, selection } = this.context;
    const clocks = recording.table('clocks');
    const chosen = [unit, selection.save(), recording.past('metrics', 'clocks')].join();
    if (chosen !== this.chosen) this.most = 0;
    this.chosen = chosen;
    this.unit = unit;
    // Of one period only the sum is known. What is more later is met when it is drawn.
    if (this.most === 0 && clocks.rows > 2 * clocks.symbols('worker').names.length)
      this.overTime(recording.origin, recording.end, COARSE);
  }

  get axis(): Layered['axis'] {
    const { unit } = this;
    return {
      title: 'Execution/s',
      // What is counted is less than one a second, too.
      unit: unit === 'count' ? '' : unit,
      parts: [],
      label: 'per second',
      none: 'All activities',
      said: value => amount(value, unit)
    };
  }

  get parts(): readonly Part[] {
    const { recording, surface } = this.context;
    return recording
      .table('metrics')
      .symbols('activity')
      .names.map(name => ({ words: activityWords(name), color: css(activityColor(name, surface.theme)) }));
  }

  overTime(from: number, to: number, bins: number): readonly Float64Array[] {
    const { recording, selection } = this.context;
    const rates = ratesOf(recording, this.unit, selection.filter(), from, to, bins);
    this.most = Math.max(this.most, peakOf(stacked(rates)) * 1.04);
    return rates;
  }
}
