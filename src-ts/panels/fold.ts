import { count, plural } from '../core/format';

/** Lines that one asking brings, and the most that are drawn: browsers leave a canvas empty that is too tall. */
const STEP = 200;
const MOST = 400;

/** Long lists of which a few lines are drawn; of one of them more, each time that a person asks. */
export class Fold {
  private open = '';
  private asked = 0;

  constructor(private readonly few: number) {}

  /** How many lines of so many are drawn. */
  drawn(all: number, list = ''): number {
    const wanted = this.few + (list === this.open ? this.asked : 0);
    return this.isLong(all) ? Math.min(all, wanted, MOST) : all;
  }

  /** Whether there is a line below them that leads to more, or back to few. */
  isLong(all: number): boolean {
    return all > this.few + 1;
  }

  /** Whether as many are drawn as may be: asked for more, it draws few again. */
  isOpen(all: number, list = ''): boolean {
    return this.drawn(all, list) === Math.min(all, MOST);
  }

  /** A person asks for more, or for few. */
  ask(all: number, list = ''): void {
    const asked = list === this.open ? this.asked : 0;
    this.asked = this.isOpen(all, list) ? 0 : asked + STEP;
    this.open = list;
  }

  /** What asking does. */
  words(all: number, what: string, list = ''): string {
    const drawn = this.drawn(all, list);
    const rest = all - drawn;
    const next = Math.min(STEP, MOST - drawn);
    if (!this.isOpen(all, list))
      return `Show ${rest > next ? `${next} of ` : ''}${plural(rest, `more ${what}`)}`;
    return `Show fewer ${what}s${rest > 0 ? `; the table has all ${count(all)}` : ''}`;
  }
}
