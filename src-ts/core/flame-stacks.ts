import { IdIndex } from './columns';

/** Every different frame of a recording: a function, wherever it was called from. */
export class Frames {
  readonly names: string[] = [];
  readonly files: string[] = [];
  readonly firstLines: number[] = [];
  private readonly ids = new Map<string, number>();

  /** The number of a frame, which it keeps. */
  id(name: string, file: string, firstLine: number): number {
    const key = `${firstLine}\n${file}\n${name}`;
    let id = this.ids.get(key);
    if (id === undefined) {
      id = this.names.length;
      this.ids.set(key, id);
      this.names.push(name);
      this.files.push(file);
      this.firstLines.push(firstLine);
    }
    return id;
  }
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
  /** Stack id to row of `stacks`. */
  readonly rowOfStack: IdIndex;
  /** Row of `stacks` to node. */
  readonly nodeOfRow: Int32Array;
  /** Row of the caller's stack, -1 at the bottom. */
  readonly parentRow: Int32Array;
  readonly lineOfRow: Uint32Array;
}

/** The tree of some stacks; with `frames`, those that are known from an earlier one keep their numbers. */
export function buildCallTree(stacks: StackColumns, frames = new Frames()): CallTree {
  const rows = stacks.stack.length;
  const rowOfStack = new IdIndex();
  rowOfStack.setAll(stacks.stack, 0, rows);
  const frameOfRow = Int32Array.from(stacks.stack, (_, row) =>
    frames.id(stacks.functionOf(row), stacks.fileOf(row), stacks.firstLine[row])
  );
  const nodeOfRow = new Int32Array(rows).fill(-1);
  const parentRow = Int32Array.from(stacks.parent, stack => rowOfStack.get(stack));
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
