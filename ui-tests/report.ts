import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { test as base, expect, type Locator, type Page } from '@playwright/test';
import { makeReports, REPORTS } from './reports';

export { expect };

export type ReportName =
  | 'real'
  | 'compared'
  | 'faulty'
  | 'threads'
  | 'synthetic'
  | 'hostile'
  | 'away'
  | 'going-on'
  | 'empty';

declare global {
  interface Window {
    __violations?: string[];
    __pwned?: unknown;
    __firstWidth?: number;
    __moved: number;
  }
}

/** Where a report stands. */
export function addressOf(name: ReportName): string {
  return pathToFileURL(join(REPORTS, `${name}.html`)).href;
}

type Box = NonNullable<Awaited<ReturnType<Locator['boundingBox']>>>;

/** A report in a page, handled as a person would. */
export class Report {
  /** Whatever went wrong in the page, and whatever it asked the network for. */
  readonly problems: string[] = [];

  constructor(readonly page: Page) {
    page.on('pageerror', error => this.problems.push(`error: ${error.message}`));
    page.on('console', message => {
      if (message.type() === 'error') this.problems.push(message.text());
    });
    page.on('request', request => {
      const address = request.url();
      if (!/^(file|data|blob):/.test(address)) this.problems.push(`request: ${address}`);
    });
    page.on('dialog', dialog => {
      this.problems.push(`dialog: ${dialog.message()}`);
      void dialog.dismiss();
    });
  }

  async open(name: ReportName, hash = ''): Promise<void> {
    await this.page.context().setOffline(true);
    await this.page.addInitScript(() => {
      window.__violations = [];
      document.addEventListener('securitypolicyviolation', event => {
        window.__violations?.push(`${event.violatedDirective}: ${event.blockedURI || event.sample}`);
      });
    });
    await this.page.goto(addressOf(name) + hash);
    await expect(this.page.locator('html[data-opened]')).toHaveCount(1);
  }

  panel(title: string): Locator {
    return this.page.getByRole('region', { name: title, exact: true });
  }

  /** The picture of a panel. */
  picture(title: string): Locator {
    return this.panel(title).locator('.di-surface');
  }

  chips(title: string): Locator {
    return this.panel(title).locator('.di-chip');
  }

  card(): Locator {
    return this.page.locator('.di-card:not([hidden])');
  }

  /** Where a picture is once it is in sight and the page around it has come to rest. */
  async place(title: string): Promise<Box> {
    const picture = this.picture(title);
    let box: Box | null = null;
    await expect(async () => {
      await picture.scrollIntoViewIfNeeded();
      const before = await picture.boundingBox();
      await this.settle();
      box = await picture.boundingBox();
      expect(box).not.toBeNull();
      expect(box).toEqual(before);
    }).toPass();
    return box as unknown as Box;
  }

  /** Moves the pointer over a picture until something is under it, and returns the card's text. */
  async hover(title: string, y: number, from = 0.3, to = 0.95): Promise<string> {
    // Panels that are laid out late move the picture away from where it was.
    for (let times = 0; times < 3; times++) {
      const box = await this.place(title);
      for (let place = from; place < to; place += 0.02) {
        await this.page.mouse.move(box.x + box.width * place, box.y + y);
        await this.settle();
        if (!(await this.card().isVisible())) continue;
        const text = await this.card()
          .innerText({ timeout: 1000 })
          .catch(() => '');
        if (text) return text;
      }
    }
    throw new Error(`nothing under the pointer in ${title}`);
  }

  /** Marks a stretch of time; places are shares of the picture's width. */
  async brush(title: string, from: number, to: number): Promise<void> {
    const box = await this.place(title);
    const y = box.y + Math.min(20, box.height / 2);
    await this.page.keyboard.down('Shift');
    await this.page.mouse.move(box.x + box.width * from, y);
    await this.page.mouse.down();
    await this.page.mouse.move(box.x + box.width * to, y, { steps: 4 });
    await this.page.mouse.up();
    await this.page.keyboard.up('Shift');
  }

  /** Texts of the cells of one column of a panel's table. */
  async column(title: string, index: number): Promise<string[]> {
    const rows = this.panel(title).locator('tbody tr');
    return rows.locator(`:scope > :nth-child(${index + 1})`).allInnerTexts();
  }

  /** Two frames: whatever was asked for has been drawn. */
  async settle(): Promise<void> {
    await this.page.evaluate(
      () => new Promise<void>(done => requestAnimationFrame(() => requestAnimationFrame(() => done())))
    );
  }

  /** What the picture shows, as a number that differs when it does. */
  async fingerprint(title: string): Promise<number> {
    await this.settle();
    return this.picture(title)
      .locator('canvas')
      .first()
      .evaluate((canvas: HTMLCanvasElement) => {
        const { data } = (canvas.getContext('2d') as CanvasRenderingContext2D).getImageData(
          0,
          0,
          canvas.width,
          canvas.height
        );
        let hash = 17;
        for (let index = 0; index < data.length; index += 4) {
          hash = (Math.imul(hash, 31) + data[index] * 65536 + data[index + 1] * 256 + data[index + 2]) | 0;
        }
        return hash;
      });
  }

  /** How many colours a picture has. */
  async colors(title: string): Promise<number> {
    await this.settle();
    return this.picture(title)
      .locator('canvas')
      .first()
      .evaluate((canvas: HTMLCanvasElement) => {
        const pen = canvas.getContext('2d') as CanvasRenderingContext2D;
        const { data } = pen.getImageData(0, 0, canvas.width, canvas.height);
        return new Set(new Uint32Array(data.buffer)).size;
      });
  }

  /** The fingerprint of a picture that has come to rest: two looks at it found the same. */
  async rested(title: string): Promise<number> {
    await this.place(title);
    let last = Number.NaN;
    await expect
      .poll(async () => {
        const before = last;
        last = await this.fingerprint(title);
        return last === before;
      })
      .toBe(true);
    return last;
  }

  /** Fails if the page complained, asked for anything, or ran what was none of its own. */
  async expectClean(): Promise<void> {
    expect(await this.page.evaluate(() => window.__violations)).toEqual([]);
    expect(await this.page.evaluate(() => window.__pwned)).toBeUndefined();
    expect(this.problems).toEqual([]);
  }
}

export const test = base.extend<{ report: Report }, { reports: undefined }>({
  reports: [
    async ({}, use) => {
      makeReports();
      await use(undefined);
    },
    { scope: 'worker', auto: true, timeout: 240_000 }
  ],

  report: async ({ page }, use) => {
    const report = new Report(page);
    await use(report);
    await report.expectClean();
  }
});
