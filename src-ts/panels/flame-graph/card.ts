import type { Frames } from '../../core/flame-stacks';
import type { FlameTree } from '../../core/flame-tree';
import { duration, share, shortened } from '../../core/format';
import { shortFile } from '../../core/package-of';
import { css } from '../../draw/palette';
import type { Box } from '../../draw/pen';
import type { Theme } from '../../draw/theme';
import type { CardLine } from '../../draw/tooltip';
import type { Mark } from '../panel';
import type { FrameColors } from './colors';
import type { FlameData } from './data';
import { pathOf } from './path';

/** A frame in the picture; `boxOf` tells where the one of a path stands now. */
export function frameMark(
  data: FlameData,
  tree: FlameTree,
  node: number,
  boxOf: (path: string) => Box,
  theme: Theme
): Mark {
  const frames = data.frames as Frames;
  const frame = tree.frame[node];
  const all = tree.total[0];
  const of = (seconds: number): string => `${duration(seconds)} (${share(seconds / all)})`;
  const file = frames.files[frame];
  const first = frames.firstLines[frame];
  const place = `${shortFile(file)}:${first}`;
  const id = pathOf(tree, node);
  return {
    id,
    get box() {
      return boxOf(id);
    },
    card: () => ({
      title: frames.names[frame],
      color: css((data.colors as FrameColors).frameColor(frame, theme)),
      groups: [
        [
          { label: 'total', value: of(tree.total[node]) },
          { label: 'itself', value: of(tree.self[node]) }
        ],
        [
          { label: 'file', value: place, copy: `${file}:${first}` },
          ...data
            .linesOf(node)
            .slice(0, 3)
            .map(([line, seconds]) => runningLine(line, seconds / tree.total[node], data.codeOf(frame, line)))
        ]
      ]
    }),
    words: () =>
      `${frames.names[frame]}, ${place}, ${share(tree.total[node] / all)} in total, ${share(tree.self[node] / all)} itself, depth ${tree.depth[node]}`
  };
}

/** A line that was running, and for how much of the time. */
function runningLine(line: number, part: number, text: string): CardLine {
  return { label: `line ${line}`, value: share(part), ...(text ? { code: shortened(text, 120) } : {}) };
}
