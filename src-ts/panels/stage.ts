import type { Recording } from '../core/recording';
import { Selection } from '../core/selection';
import { Tasks } from '../core/tasks';
import { ColorRegistry } from '../draw/palette';
import { Viewport } from '../draw/viewport';
import type { Stage } from './panel';

/** What the panels of one page share, over one recording. */
export function createStage(recording: Recording, { live = false }: { readonly live?: boolean } = {}): Stage {
  const viewport = new Viewport({ live });
  const grow = (): void => {
    // What is long past may have been dropped from a recording that goes on.
    const start = live ? recording.begin : recording.origin;
    viewport.setExtent(start, recording.end, recording.origin);
  };
  grow();
  recording.onAppend(grow);
  recording.onReplace(grow);
  const colors = new ColorRegistry();
  keepColors(recording, colors);
  const tasks = new Tasks(recording);
  return { recording, tasks, selection: new Selection(), viewport, colors, live };
}

/** Task names in the order of the recording. */
export function prefixesOf(recording: Recording): readonly string[] {
  return recording.table('graph').symbols('prefix').names;
}

/** Gives task names their colours in the order of the recording, whichever panel asks first. */
function keepColors(recording: Recording, colors: ColorRegistry): void {
  let given = 0;
  const give = (): void => {
    const names = prefixesOf(recording);
    for (; given < names.length; given++) colors.slot(names[given]);
  };
  give();
  recording.onAppend(({ table }) => {
    if (table === 'graph') give();
  });
  recording.onReplace(() => {
    colors.keep(prefixesOf(recording));
    given = 0;
  });
}
