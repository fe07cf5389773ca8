import type { Pen } from './pen';

const BASELINES: Partial<Record<CanvasTextBaseline, string>> = { middle: '0.35em', top: '0.8em' };

/** A pen that writes an SVG; rasters go in as PNG. */
export class SvgPen implements Pen {
  imageSmoothingEnabled = false;
  fillStyle = '#000';
  strokeStyle = '#000';
  lineWidth = 1;
  globalAlpha = 1;
  font = '12px sans-serif';
  textAlign: CanvasTextAlign = 'left';
  textBaseline: CanvasTextBaseline = 'alphabetic';
  private dx = 0;
  private dy = 0;
  /** Groups opened by `clip` that `restore` has to close. */
  private open = 0;
  private readonly parts: string[] = [];
  private readonly saved: { readonly open: number }[] = [];
  private path = '';
  private clips = 0;

  constructor(
    readonly width: number,
    readonly height: number
  ) {}

  fillRect(x: number, y: number, width: number, height: number): void {
    this.parts.push(
      `<rect ${this.box(x, y, width, height)} fill="${escaped(this.fillStyle)}"${this.alpha()}/>`
    );
  }

  strokeRect(x: number, y: number, width: number, height: number): void {
    this.parts.push(`<rect ${this.box(x, y, width, height)} fill="none"${this.line()}/>`);
  }

  fillText(text: string, x: number, y: number): void {
    const { dx, dy, font, textAlign, textBaseline } = this;
    const shift = BASELINES[textBaseline];
    const anchor = textAlign === 'right' ? ' text-anchor="end"' : '';
    this.parts.push(
      `<text x="${number(x + dx)}" y="${number(y + dy)}"${shift ? ` dy="${shift}"` : ''}` +
        `${anchor} style="font:${escaped(font)}" ` +
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
    const id = `clip-${this.clips++}`;
    this.parts.push(`<clipPath id="${id}"><path d="${this.path}"/></clipPath><g clip-path="url(#${id})">`);
    this.open++;
  }

  save(): void {
    this.saved.push({ ...this, open: this.open });
    this.open = 0;
  }

  restore(): void {
    const state = this.saved.pop();
    if (!state) return;
    this.parts.push('</g>'.repeat(this.open));
    const { path, clips } = this;
    Object.assign(this, state, { path, clips });
  }

  translate(dx: number, dy: number): void {
    this.dx += dx;
    this.dy += dy;
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
    const open = this.saved.reduce((total, state) => total + state.open, this.open);
    return `<svg xmlns="http://www.w3.org/2000/svg" ${size} ${box}>${this.parts.join('')}${'</g>'.repeat(open)}</svg>`;
  }

  private box(x: number, y: number, width: number, height: number): string {
    const left = number(x + this.dx);
    const top = number(y + this.dy);
    return `x="${left}" y="${top}" width="${number(Math.max(0, width))}" height="${number(Math.max(0, height))}"`;
  }

  private point(x: number, y: number): string {
    return `${number(x + this.dx)} ${number(y + this.dy)}`;
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
