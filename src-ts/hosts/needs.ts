import { ON_DEMAND } from '../core/editions';
import type { Stop } from '../core/recording';
import type { TableName } from '../core/schema';

/** Which tables that the kernel makes on demand are shown: those of the panels that have a size. */
export class Needs {
  private readonly places = new Map<HTMLElement, readonly TableName[]>();
  private readonly shown = new Set<HTMLElement>();
  private readonly callbacks = new Set<() => void>();
  private told = '';
  private isStill = false;
  private readonly observer = new ResizeObserver(entries => {
    for (const { target, contentRect } of entries) {
      if (contentRect.width > 0) this.shown.add(target as HTMLElement);
      else this.shown.delete(target as HTMLElement);
    }
    this.tell();
  });

  get tables(): readonly TableName[] {
    const shown = this.isStill ? [] : [...this.shown];
    const needed = new Set(shown.flatMap(place => this.places.get(place) ?? []));
    return ON_DEMAND.filter(table => needed.has(table));
  }

  /** Panels that stand still need nothing. */
  set still(on: boolean) {
    this.isStill = on;
    this.tell();
  }

  /** A panel that reads these tables, and no longer others, stands in this place, until the result is called. */
  add(place: HTMLElement, tables: readonly TableName[]): Stop {
    this.places.set(place, tables);
    this.observer.observe(place);
    this.tell();
    return () => {
      this.observer.unobserve(place);
      this.places.delete(place);
      this.shown.delete(place);
      this.tell();
    };
  }

  /** Tells when `tables` has changed. */
  onChange(callback: () => void): Stop {
    this.callbacks.add(callback);
    return () => this.callbacks.delete(callback);
  }

  dispose(): void {
    this.observer.disconnect();
    this.callbacks.clear();
  }

  private tell(): void {
    const now = this.tables.join();
    if (now === this.told) return;
    this.told = now;
    for (const callback of [...this.callbacks]) callback();
  }
}
