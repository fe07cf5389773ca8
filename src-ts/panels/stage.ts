import type { Recording } from '../core/recording';
import { Selection } from '../core/selection';
import { Tasks } from '../core/tasks';
import { ColorRegistry } from '../draw/palette';
import { Viewport } from '../draw/viewport';
import type { Stage } from './panel';

/** What the panels of one page share, over one recording. */
export function createStage(recording: Recording): Stage {
  const viewport = new Viewport();
  const grow = (): void => viewport.setExtent(recording.origin, recording.end);
  grow();
  recording.onAppend(grow);
  const tasks = new Tasks(recording);
  return { recording, tasks, selection: new Selection(), viewport, colors: new ColorRegistry() };
}
