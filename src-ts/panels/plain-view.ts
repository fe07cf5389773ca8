import type { TableName } from '../core/schema';
import { element } from './element';
import type { PanelContext, PanelView } from './panel';
import { Table, type TableOptions } from './table';

/** A view without a picture: a table, filled anew when what it shows has changed. */
export abstract class PlainView implements PanelView {
  readonly plain = true;
  readonly below = element('div', { class: 'di-plain' });
  private known = '';
  private table: Table | undefined;

  constructor(
    protected readonly context: PanelContext,
    private readonly tables: readonly TableName[]
  ) {}

  abstract empty(): string | undefined;

  protected abstract content(): TableOptions;

  /** What a person looks for in it; the table is filled anew when it changes. */
  protected query(): string {
    return '';
  }

  height(): number {
    return 0;
  }

  layout(): void {
    const { recording, selection, surface } = this.context;
    const known = [recording.state(...this.tables), selection.save(), this.query(), surface.look].join();
    if (known === this.known) return;
    this.known = known;
    const content = this.content();
    if (this.table) {
      this.table.renew(content);
      return;
    }
    this.table = new Table(content);
    this.below.append(this.table.element);
  }

  draw(): void {}
}
