import { beforeEach, describe, expect, it, vi } from 'vitest';
import { bytesOf, joined } from '../core/test-bytes';
import { type Control, cellPicker, followButton, liveControls, pauseButton } from './live-controls';
import { LivePage } from './live-page';

let page: LivePage;

beforeEach(() => {
  // Time stands still, so that no slice of reading ever ends.
  vi.spyOn(performance, 'now').mockReturnValue(0);
  page = new LivePage();
  page.take(
    joined(
      bytesOf('attempts', [
        { run: 0, task: 0, worker: 'w', thread: 't', status: 'ok', start: 90, stop: 120 }
      ]),
      bytesOf('cells', [
        { execution: 4, code: 'x.compute()', start: 100, stop: 110 },
        { execution: 5, code: 'import os', start: 111, stop: 112 }
      ]),
      bytesOf('submissions', [{ submission: 0, time: 101, tasks: 3, execution: 4 }])
    )
  );
});

const pressed = ({ element }: Control): string | null => element.getAttribute('aria-pressed');

describe('live controls', () => {
  it('say whether the page follows, and change it', () => {
    const control = followButton(page);
    expect(pressed(control)).toBe('true');
    page.viewport.show(100, 101);
    expect(pressed(control)).toBe('false');
    control.element.click();
    expect(page.follow).toBe(true);
    expect(pressed(control)).toBe('true');
  });

  it('pause and resume', () => {
    const control = pauseButton(page);
    control.element.click();
    expect(page.paused).toBe(true);
    const named = (): unknown => [control.element.title.split(':')[0], control.element.className];
    expect(named()).toEqual(['Resume', 'di-icon di-pressed']);
    page.paused = false;
    expect(named()).toEqual(['Pause', 'di-icon']);
    // "Resume, pressed" would be the opposite.
    expect(pressed(control)).toBeNull();
  });

  it('stay what was pressed while data come', () => {
    const { element } = pauseButton(page);
    const sign = element.firstChild;
    page.take(bytesOf('submissions', [{ submission: 1, time: 102, tasks: 3, execution: 4 }]));
    expect(element.firstChild).toBe(sign);
    page.paused = true;
    expect(element.firstChild).not.toBe(sign);
  });

  it('offer the cells that had tasks, and follow the selection', () => {
    const { element } = cellPicker(page);
    const picker = element as HTMLSelectElement;
    expect([...picker.options].map(({ value }) => value)).toEqual(['', '4']);
    picker.value = '4';
    picker.dispatchEvent(new Event('change'));
    expect(page.cell).toBe(4);
    page.selection.clear();
    expect(picker.value).toBe('');
  });

  it('offer the cells of the session that is shown', () => {
    const picker = cellPicker(page).element as HTMLSelectElement;
    page.take(bytesOf('about', [{ name: 'started', value: '90' }]));
    page.showCell(4);
    page.reset();
    page.take(
      joined(
        bytesOf('about', [{ name: 'started', value: '200' }]),
        bytesOf('cells', [{ execution: 1, code: 'y.compute()', start: 201, stop: 210 }]),
        bytesOf('submissions', [{ submission: 0, time: 202, tasks: 3, execution: 1 }])
      )
    );
    expect([...picker.options].map(({ value }) => value)).toEqual(['', '1']);
    expect(picker.value).toBe('');
  });

  it('offer no cells where there is nothing to choose', () => {
    expect(cellPicker(page).element.hidden).toBe(false);
    expect(cellPicker(page, 2).element.hidden).toBe(true);
  });

  it('leave the page when they are disposed of', () => {
    const control = liveControls(page);
    document.body.append(control.element);
    control.dispose();
    expect(document.body.children).toHaveLength(0);
    page.paused = true;
    expect(control.element.children).toHaveLength(0);
  });
});
