import type { Frames } from '../../core/flame-stacks';
import type { FlameTree } from '../../core/flame-tree';
import { duration, share } from '../../core/format';
import type { TableRows } from '../panel';
import { number, tableOf, text } from '../things';

/** What is known of a frame's code. */
export interface FrameCode {
  /** By frame the line that was running for most of the time; 0 if none. */
  readonly busiest: Uint32Array;
  text(frame: number, line: number): string;
}

/** Time by function: on top itself, and with all it called; recursion counts once. */
export function frameTable(tree: FlameTree, frames: Frames, code: FrameCode): TableRows {
  const count = frames.names.length;
  const self = new Float64Array(count);
  const total = new Float64Array(count);
  const open = new Uint32Array(count);
  const path: number[] = [];
  for (let node = 1; node < tree.size; node++) {
    while (path.length > 0 && tree.next[path[path.length - 1]] <= node) {
      open[tree.frame[path.pop() as number]]--;
    }
    const frame = tree.frame[node];
    self[frame] += tree.self[node];
    if (open[frame]++ === 0) total[frame] += tree.total[node];
    path.push(node);
  }
  const order = [...total.keys()].filter(frame => total[frame] > 0).sort((a, b) => self[b] - self[a]);
  const place = (frame: number): string => `${frames.files[frame]}:${frames.firstLines[frame]}`;
  const busiest = (frame: number): string => {
    const line = code.busiest[frame] ?? 0;
    return line > 0 ? `${line}  ${code.text(frame, line)}`.trim() : '';
  };
  return tableOf(order, [
    text('Function', frame => frames.names[frame]),
    number('Itself', frame => self[frame], duration),
    number('Share of itself', frame => self[frame] / tree.total[0], share),
    number('Total', frame => total[frame], duration),
    number('Share of total', frame => total[frame] / tree.total[0], share),
    text('Busiest line', busiest),
    text('File', place)
  ]);
}
