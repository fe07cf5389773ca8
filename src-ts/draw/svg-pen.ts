import type { Pen } from './pen';

/** What an SVG has to know of the pen at a moment. */
interface State {
  fillStyle: string;
  strokeStyle: string;
  lineWidth: number;
  globalAlpha: number;
  font: string;
  textAlign: CanvasTextAlign;
  textBaseline: CanvasTextBaseline;
  dx: number;
  dy: number;
  /** Groups opened by `clip` that `restore` has to close. */
  open: number;
}

const BASELINES: Partial<Record<CanvasTextBaseline, string>> = {
  middle: '0.35em',
  top: '0.8em',
  hanging: '0.8em'
};
const ANCHORS: Partial<Record<CanvasTextAlign, string>> = { right: 'end', end: 'end', center: 'middle' };

/** A pen that writes an SVG; rasters go in as PNG. */
export class SvgPen implements Pen {
  imageSmoothingEnabled = false;
  private readonly parts: string[] = [];
  private readonly saved: State[] = [];
  private state: State = {
    fillStyle: '#000',
    strokeStyle: '#000',
    lineWidth: 1,
    globalAlpha: 1,
    font: '12px sans-serif',
    textAlign: 'left',
    textBaseline: 'alphabetic',
    dx: 0,
    dy: 0,
    open: 0
  };
  private path = '';
  private clips = 0;

  constructor(
    readonly width: number,
    readonly height: number,
    private readonly id = 'clip'
  ) {}

  get fillStyle(): string {
    return this.state.fillStyle;
  }
  set fillStyle(value: string | CanvasGradient | CanvasPattern) {
    this.state.fillStyle = String(value);
  }
  get strokeStyle(): string {
    return this.state.strokeStyle;
  }
  set strokeStyle(value: string | CanvasGradient | CanvasPattern) {
    this.state.strokeStyle = String(value);
  }
  get lineWidth(): number {
    return this.state.lineWidth;
  }
  set lineWidth(value: number) {
    this.state.lineWidth = value;
  }
  get globalAlpha(): number {
    return this.state.globalAlpha;
  }
  set globalAlpha(value: number) {
    this.state.globalAlpha = value;
  }
  get font(): string {
    return this.state.font;
  }
  set font(value: string) {
    this.state.font = value;
  }
  get textAlign(): CanvasTextAlign {
    return this.state.textAlign;
  }
  set textAlign(value: CanvasTextAlign) {
    this.state.textAlign = value;
  }
  get textBaseline(): CanvasTextBaseline {
    return this.state.textBaseline;
  }
  set textBaseline(value: CanvasTextBaseline) {
    this.state.textBaseline = value;
  }

  fillRect(x: number, y: number, width: number, height: number): void {
    this.parts.push(
      `<rect ${this.box(x, y, width, height)} fill="${escaped(this.fillStyle)}"${this.alpha()}/>`
    );
  }

  strokeRect(x: number, y: number, width: number, height: number): void {
    this.parts.push(`<rect ${this.box(x, y, width, height)} fill="none"${this.line()}/>`);
  }

  fillText(text: string, x: number, y: number, most?: number): void {
    const { dx, dy, font, textAlign, textBaseline } = this.state;
    const shift = BASELINES[textBaseline];
    const anchor = ANCHORS[textAlign];
    const squeeze = most === undefined ? '' : ` textLength="${number(most)}" lengthAdjust="spacingAndGlyphs"`;
    this.parts.push(
      `<text x="${number(x + dx)}" y="${number(y + dy)}"${shift ? ` dy="${shift}"` : ''}` +
        `${anchor ? ` text-anchor="${anchor}"` : ''}${squeeze} style="font:${escaped(font)}" ` +
        `fill="${escaped(this.fillStyle)}"${this.alpha()} xml:space="preserve">${escaped(text)}</text>`
    );
  }

  beginPath(): void {
    this.path = '';
  }

  moveTo(x: number, y: number): void {
    this.path += `M${this.point(x, y)}`;
  }

  lineTo(x: number, y: number): void {
    this.path += `L${this.point(x, y)}`;
  }

  rect(x: number, y: number, width: number, height: number): void {
    this.path += `M${this.point(x, y)}h${number(width)}v${number(height)}h${number(-width)}z`;
  }

  closePath(): void {
    this.path += 'z';
  }

  fill(): void {
    this.parts.push(`<path d="${this.path}" fill="${escaped(this.fillStyle)}"${this.alpha()}/>`);
  }

  stroke(): void {
    this.parts.push(`<path d="${this.path}" fill="none"${this.line()}/>`);
  }

  clip(): void {
    const id = `${this.id}-${this.clips++}`;
    this.parts.push(`<clipPath id="${id}"><path d="${this.path}"/></clipPath><g clip-path="url(#${id})">`);
    this.state.open++;
  }

  save(): void {
    this.saved.push({ ...this.state, open: 0 });
    [this.saved[this.saved.length - 1].open, this.state.open] = [this.state.open, 0];
  }

  restore(): void {
    const state = this.saved.pop();
    if (!state) return;
    this.parts.push('</g>'.repeat(this.state.open));
    this.state = state;
  }

  translate(dx: number, dy: number): void {
    this.state.dx += dx;
    this.state.dy += dy;
  }

  drawImage(image: HTMLCanvasElement, x: number, y: number, width: number, height: number): void {
    this.parts.push(
      `<image ${this.box(x, y, width, height)} preserveAspectRatio="none" ` +
        `style="image-rendering:pixelated" href="${image.toDataURL('image/png')}"/>`
    );
  }

  /** The whole document. */
  toString(): string {
    const size = `width="${number(this.width)}" height="${number(this.height)}"`;
    const box = `viewBox="0 0 ${number(this.width)} ${number(this.height)}"`;
    const open = this.state.open + this.saved.reduce((total, state) => total + state.open, 0);
    return `<svg xmlns="http://www.w3.org/2000/svg" ${size} ${box}>${this.parts.join('')}${'</g>'.repeat(open)}</svg>`;
  }

  private box(x: number, y: number, width: number, height: number): string {
    const left = number(x + this.state.dx);
    const top = number(y + this.state.dy);
    return `x="${left}" y="${top}" width="${number(Math.max(0, width))}" height="${number(Math.max(0, height))}"`;
  }

  private point(x: number, y: number): string {
    return `${number(x + this.state.dx)} ${number(y + this.state.dy)}`;
  }

  private alpha(): string {
    return this.globalAlpha < 1 ? ` opacity="${number(this.globalAlpha)}"` : '';
  }

  private line(): string {
    return ` stroke="${escaped(this.strokeStyle)}" stroke-width="${number(this.lineWidth)}"${this.alpha()}`;
  }
}

function number(value: number): string {
  return String(Math.round(value * 100) / 100);
}

const ENTITIES: Record<string, string> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;'
};

/** Characters that XML cannot hold, escaped or not. */
const CONTROL = /\p{Cc}(?<![\t\n\r])/gu;

function escaped(text: string): string {
  return text.replace(CONTROL, '').replace(/[&<>"']/g, each => ENTITIES[each]);
}
