import { CTRL } from '@dask-insight/panels/hosts/help';
import {
  type Control,
  cellPicker,
  controlLine,
  followButton,
  kept,
  pauseButton
} from '@dask-insight/panels/hosts/live-controls';
import type { LivePage } from '@dask-insight/panels/hosts/live-page';
import { button, setIdle } from '@dask-insight/panels/panels/element';
import { icon } from '@dask-insight/panels/panels/icons';
import { reportIcon } from '../icons';
import type { LiveKernel } from '../kernels/live-kernel';
import type { Place } from '../kernels/place';

/** What can be done with the panels of a kernel, in one line: the same in each of them. */
export function tools({ page, latest }: LiveKernel, place: Place, exportReport: () => void): Control {
  return controlLine('di-tools', [
    followButton(page),
    pauseButton(page),
    undoButton(page),
    redoButton(page),
    fitButton(page),
    reportButton(place, exportReport),
    cellPicker(latest)
  ]);
}

/** As long as its kernel answers. */
function reportButton(place: Place, exportReport: () => void): Control {
  const made = button('Save as a report', exportReport, icon('save'));
  made.replaceChildren(reportIcon.element({ tag: 'span', className: 'di-tool-icon' }));
  const update = (): void => setIdle(made, !place.answers);
  place.changed.connect(update);
  return kept(made, update, () => place.changed.disconnect(update));
}

function undoButton({ selection }: LivePage): Control {
  const made = button(`Undo the selection (${CTRL} + Z)`, () => selection.undo(), icon('undo'));
  const update = (): void => setIdle(made, !selection.canUndo);
  return kept(made, update, selection.subscribe(update));
}

function redoButton({ selection }: LivePage): Control {
  const made = button(`Redo the selection (${CTRL} + Shift + Z)`, () => selection.redo(), icon('redo'));
  const update = (): void => setIdle(made, !selection.canRedo);
  return kept(made, update, selection.subscribe(update));
}

function fitButton({ viewport }: LivePage): Control {
  const made = button('Show the whole time (0)', () => viewport.fit(), icon('fit'));
  const update = (): void => setIdle(made, viewport.fitted);
  return kept(made, update, viewport.subscribe(update));
}
