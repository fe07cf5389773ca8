import type { TableName } from '../core/schema';
import { watchTheme } from '../draw/theme';
import { element } from './element';
import type { PanelContext, PanelView } from './panel';

/** A view without a picture: its content is made anew when what it shows has changed. */
export abstract class PlainView implements PanelView {
  readonly plain = true;
  readonly below = element('div', { class: 'di-plain' });
  private known = '';
  private readonly stop: () => void;

  constructor(
    protected readonly context: PanelContext,
    private readonly tables: readonly TableName[]
  ) {
    this.stop = watchTheme(() => {
      this.known = '';
      if (this.empty() === undefined) this.layout();
    });
  }

  abstract empty(): string | undefined;

  protected abstract content(): HTMLElement;

  height(): number {
    return 0;
  }

  layout(): void {
    const { recording, selection } = this.context;
    const known = [recording.state(...this.tables), selection.save()].join();
    if (known === this.known) return;
    this.known = known;
    this.below.replaceChildren(this.content());
  }

  draw(): void {}

  dispose(): void {
    this.stop();
  }
}
