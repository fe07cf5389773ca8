import { expect, type Locator } from '@playwright/test';
import type { Lab } from './lab';

/** An open notebook, or a console; cells are numbered from 0. */
export class Notebook {
  constructor(
    readonly lab: Lab,
    readonly path: string,
    /** Its whole document. */
    readonly element: Locator
  ) {}

  cell(index: number): Locator {
    return this.element.locator('.jp-Notebook-cell').nth(index);
  }

  /** What stands under a cell. */
  output(index: number): Locator {
    return this.cell(index).locator('.jp-OutputArea');
  }

  prompt(index: number): Locator {
    return this.cell(index).locator('.jp-InputArea-prompt');
  }

  /** Runs a cell and waits until it has run without an error. */
  async run(index: number): Promise<void> {
    await this.enter(index);
    await this.lab.execute('notebook:run-cell');
    await this.ended(index);
    expect(await this.errors(index)).toEqual([]);
  }

  /** The errors with which a cell ended; JupyterLab shows them as it shows what went to stderr. */
  private errors(index: number): Promise<string[]> {
    return this.element.evaluate((element, at) => {
      for (const widget of window.jupyterapp.shell.widgets('main')) {
        if (widget.id !== element.id) continue;
        const outputs = widget.content.widgets[at].model.outputs?.toJSON() ?? [];
        return outputs
          .filter((each: { output_type: string }) => each.output_type === 'error')
          .map((each: { ename: string; evalue: string }) => `${each.ename}: ${each.evalue}`);
      }
      throw new Error('it is not open');
    }, index);
  }

  /** Starts a cell and leaves it running. */
  async start(index: number): Promise<void> {
    await this.enter(index);
    await this.lab.page.keyboard.press('Control+Enter');
    await expect(this.prompt(index)).toHaveText(/\[(\*|\d+)\]:/);
  }

  /** Waits until a cell that was started has run, at most so many milliseconds. */
  async ended(index: number, timeout = 90_000): Promise<void> {
    await expect(this.prompt(index)).toHaveText(/\[\d+\]:/, { timeout });
  }

  private async enter(index: number): Promise<void> {
    await this.show();
    await this.cell(index)
      .locator('.cm-content')
      .click({ position: { x: 3, y: 3 } });
    await expect(this.cell(index)).toHaveClass(/jp-mod-active/);
  }

  /** Brings its tab to the front. */
  async show(): Promise<void> {
    const id = await this.element.getAttribute('id');
    await this.lab.page.evaluate(each => window.jupyterapp.shell.activateById(each), id);
    await expect(this.element).toBeVisible();
  }

  /** Saves it, and waits until the file is written. */
  async save(): Promise<void> {
    await this.show();
    await this.element.evaluate(async element => {
      for (const widget of window.jupyterapp.shell.widgets('main')) {
        if (widget.id === element.id) await widget.context.save();
      }
    });
  }

  /** Gives its file another name. */
  async rename(path: string): Promise<void> {
    await this.element.evaluate(async (element, name) => {
      for (const widget of window.jupyterapp.shell.widgets('main')) {
        if (widget.id === element.id) await widget.context.rename(name);
      }
    }, path);
  }

  /** Closes its tab; the kernel goes on. */
  async close(): Promise<void> {
    await this.element.evaluate(element => {
      for (const widget of [...window.jupyterapp.shell.widgets('main')]) {
        if (widget.id === element.id) widget.dispose();
      }
    });
    await expect(this.element).toHaveCount(0);
  }

  /** Restarts the kernel, as the menu does after its question. */
  async restart(): Promise<void> {
    await this.element.evaluate(async element => {
      for (const widget of window.jupyterapp.shell.widgets('main')) {
        if (widget.id === element.id) await widget.sessionContext.session.kernel.restart();
      }
    });
  }

  /** Gives it a new kernel in place of the one that it has, as the menu does after its question. */
  async changeKernel(): Promise<void> {
    await this.element.evaluate(async element => {
      for (const widget of window.jupyterapp.shell.widgets('main')) {
        if (widget.id === element.id) await widget.sessionContext.changeKernel({ name: 'python3' });
      }
    });
  }
}
