import { type CriticalPath, KINDS } from '../../core/critical-path';
import { duration, moment, range, share } from '../../core/format';
import { sumOf } from '../../core/sum-of';
import type { Tasks } from '../../core/tasks';
import type { Card } from '../../draw/tooltip';
import { keyLine } from '../task-stream/card';
import { KIND_WORDS, kindsOf, NO_TASK, nameOf, neededBy, waitedFor } from './words';

/** What is known about one tile of the path, and the step it belongs to. */
export function cardOf(path: CriticalPath, tasks: Tasks, tile: number, color: string): Card {
  const step = path.stepOf(tile);
  const { origin } = tasks.recording;
  const from = path.start[tile] - origin;
  const to = path.stop[tile] - origin;
  const kinds = kindsOf(path, step);
  const whole = sumOf(kinds);
  const several = path.first[step + 1] - path.first[step] > 1;
  const { worker, thread } = path.threads[path.place[step]];
  const key = keyLine(tasks, path.task[path.first[step]]);
  const waited = waitedFor(path, tasks, step);
  return {
    title: nameOf(path, tasks, step) || NO_TASK,
    color,
    groups: [
      key ? [key] : [],
      [
        { label: 'Here', value: `${KIND_WORDS[KINDS[path.kind[tile]]]}, ${duration(to - from)}` },
        { label: 'When', value: range(from, to) }
      ],
      several
        ? [
            { label: 'The step', value: `${duration(whole)} (${share(whole / path.seconds)} of the run)` },
            ...KINDS.flatMap((kind, at) =>
              kinds[at] > 0 ? [{ label: KIND_WORDS[kind], value: duration(kinds[at]), minor: true }] : []
            )
          ]
        : [{ label: 'Of the run', value: share(whole / path.seconds) }],
      [
        ...(waited ? [{ label: 'Waited for', value: waited }] : []),
        { label: 'Waited for it', value: neededBy(path, tasks, step) }
      ],
      worker
        ? [
            { label: 'Worker', value: tasks.workerName(worker), copy: worker },
            { label: 'Thread', value: thread || 'not known', minor: true }
          ]
        : []
    ]
  };
}

/** One line for those who listen. */
export function wordsOf(path: CriticalPath, tasks: Tasks, tile: number): string {
  const step = path.stepOf(tile);
  const from = path.start[tile] - tasks.recording.origin;
  const name = nameOf(path, tasks, step) || NO_TASK;
  const took = duration(path.stop[tile] - path.start[tile]);
  return `${name}, ${KIND_WORDS[KINDS[path.kind[tile]]]} ${took}, at ${moment(from, 3)}`;
}
