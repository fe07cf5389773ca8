import { NOTHING } from './schema';

/** Every different frame of a recording: a function, wherever it was called from. */
export interface Frames {
  readonly names: string[];
  readonly files: string[];
  readonly firstLines: number[];
}

/** The columns of `stacks`, one entry a row. */
export interface StackColumns {
  readonly stack: Uint32Array;
  readonly parent: Uint32Array;
  readonly line: Uint32Array;
  readonly firstLine: Uint32Array;
  functionOf(row: number): string;
  fileOf(row: number): string;
}

/**
 * The call tree of a recording: stacks that differ only in line numbers are
 * one node. Node 0 is the root; a parent stands before its children.
 */
export interface CallTree {
  readonly frames: Frames;
  readonly size: number;
  readonly parent: Int32Array;
  readonly frame: Int32Array;
  /** Stack id to row of `stacks`, -1 where there is none. */
  readonly rowOfStack: Int32Array;
  /** Row of `stacks` to node. */
  readonly nodeOfRow: Int32Array;
  /** Row of the caller's stack, -1 at the bottom. */
  readonly parentRow: Int32Array;
  readonly lineOfRow: Uint32Array;
}

export function buildCallTree(stacks: StackColumns): CallTree {
  const rows = stacks.stack.length;
  const rowOfStack = indexById(stacks.stack);
  const frames: Frames = { names: [], files: [], firstLines: [] };
  const frameOfRow = internFrames(stacks, frames);
  const nodeOfRow = new Int32Array(rows).fill(-1);
  const parentRow = Int32Array.from(stacks.parent, stack => rowOf(rowOfStack, stack));
  const parent: number[] = [-1];
  const frame: number[] = [-1];
  const known = new Map<number, number>();
  const width = frames.names.length + 1;
  const pending: number[] = [];
  for (let first = 0; first < rows; first++) {
    let row = first;
    while (row >= 0 && nodeOfRow[row] < 0 && pending.length <= rows) {
      pending.push(row);
      row = parentRow[row];
    }
    let node = row >= 0 && nodeOfRow[row] >= 0 ? nodeOfRow[row] : 0;
    for (let next = pending.pop(); next !== undefined; next = pending.pop()) {
      const key = node * width + frameOfRow[next];
      let child = known.get(key);
      if (child === undefined) {
        child = parent.length;
        known.set(key, child);
        parent.push(node);
        frame.push(frameOfRow[next]);
      }
      node = nodeOfRow[next] = child;
    }
  }
  return {
    frames,
    size: parent.length,
    parent: Int32Array.from(parent),
    frame: Int32Array.from(frame),
    rowOfStack,
    nodeOfRow,
    parentRow,
    lineOfRow: stacks.line
  };
}

function rowOf(rowOfStack: Int32Array, stack: number): number {
  return stack === NOTHING || stack >= rowOfStack.length ? -1 : rowOfStack[stack];
}

function indexById(ids: Uint32Array): Int32Array {
  let largest = -1;
  for (let row = 0; row < ids.length; row++) {
    if (ids[row] !== NOTHING && ids[row] > largest) largest = ids[row];
  }
  const rows = new Int32Array(largest + 1).fill(-1);
  for (let row = 0; row < ids.length; row++) {
    if (ids[row] !== NOTHING) rows[ids[row]] = row;
  }
  return rows;
}

function internFrames(stacks: StackColumns, frames: Frames): Int32Array {
  const ids = new Map<string, number>();
  const frameOfRow = new Int32Array(stacks.stack.length);
  for (let row = 0; row < frameOfRow.length; row++) {
    const name = stacks.functionOf(row);
    const file = stacks.fileOf(row);
    const firstLine = stacks.firstLine[row];
    const key = `${firstLine}\n${file}\n${name}`;
    let id = ids.get(key);
    if (id === undefined) {
      id = frames.names.length;
      ids.set(key, id);
      frames.names.push(name);
      frames.files.push(file);
      frames.firstLines.push(firstLine);
    }
    frameOfRow[row] = id;
  }
  return frameOfRow;
}
