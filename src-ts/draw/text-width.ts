/**
 * Widths of text from a table of character advances: a thousandth of the cost
 * of asking the canvas for each label, and within a pixel of it.
 */
export class TextWidth {
  private readonly advances = new Map<number, number>();
  private readonly latin = new Float32Array(256).fill(Number.NaN);
  private readonly size: number;

  constructor(readonly font: string) {
    this.size = Number.parseFloat(/([\d.]+)px/.exec(font)?.[1] ?? '12');
  }

  /** Width in CSS pixels. */
  of(text: string): number {
    let width = 0;
    for (let index = 0; index < text.length; index++) {
      const code = text.charCodeAt(index);
      const known = code < 256 ? this.latin[code] : Number.NaN;
      width += Number.isNaN(known) ? this.advance(text.codePointAt(index) ?? code) : known;
      if (code >= 0xd800 && code < 0xdc00) index++;
    }
    return width;
  }

  /** The text, cut at its end to fit; '' if fewer than three characters would be left. */
  fitted(text: string, width: number): string {
    if (this.of(text) <= width) return text;
    const cut = this.of('…');
    let used = 0;
    let end = 0;
    for (const letter of text) {
      used += this.of(letter);
      if (used + cut > width) break;
      end += letter.length;
    }
    return end < 3 ? '' : `${text.slice(0, end)}…`;
  }

  /** The text, cut in its middle to fit, so that both ends can be told apart; '' if there is no room for two. */
  fittedEnds(text: string, width: number): string {
    if (this.of(text) <= width) return text;
    const letters = [...text];
    let used = this.of('…');
    let [head, tail] = [0, 0];
    while (head + tail < letters.length) {
      const isHead = head <= tail;
      used += this.of(isHead ? letters[head] : letters[letters.length - 1 - tail]);
      if (used > width) break;
      if (isHead) head++;
      else tail++;
    }
    return tail > 0 ? `${letters.slice(0, head).join('')}…${letters.slice(-tail).join('')}` : '';
  }

  private advance(point: number): number {
    let width = this.advances.get(point);
    if (width === undefined) {
      width = this.measured(point);
      this.advances.set(point, width);
      if (point < 256) this.latin[point] = width;
    }
    return width;
  }

  private measured(point: number): number {
    const ruler = theRuler();
    if (!ruler) return this.size * 0.56;
    ruler.font = this.font;
    return ruler.measureText(String.fromCodePoint(point)).width;
  }
}

let ruler: CanvasRenderingContext2D | null | undefined;

/** One canvas measures for all fonts: to make one takes longer than to measure a font. */
function theRuler(): CanvasRenderingContext2D | null {
  if (ruler === undefined) ruler = document.createElement('canvas').getContext('2d');
  return ruler;
}

const shared = new Map<string, TextWidth>();

/** The table of a font, shared by all drawings. */
export function textWidth(font: string): TextWidth {
  let widths = shared.get(font);
  if (!widths) {
    widths = new TextWidth(font);
    shared.set(font, widths);
  }
  return widths;
}
