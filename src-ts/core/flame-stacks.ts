import { Chains, IdIndex } from './columns';

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

/** Callers of a function that are told apart, as in Python: what is deeper counts for the deepest. */
const DEEPEST = 2000;

/**
 * The call tree of a recording: stacks that differ only in line numbers are
 * one node. Node 0 is the root; a parent stands before its children.
 */
export class CallTree {
  readonly parent = [-1];
  readonly frame = [-1];
  /** Stack id to row of `stacks`. */
  readonly rowOfStack = new IdIndex();
  /** Row of `stacks` to node. */
  readonly nodeOfRow: number[] = [];
  /** Rows of `stacks` of each node. */
  readonly rowsOfNode = new Chains();
  /** Row of the caller's stack, -1 at the bottom. */
  readonly parentRow: number[] = [];
  lineOfRow: Uint32Array = new Uint32Array(0);
  /** Of each node, how many callers it has. */
  private readonly depth = [0];
  /** By frame, the node of it below another node. */
  private readonly below: Map<number, number>[] = [];

  /** Frames that are known from an earlier tree keep their numbers. */
  constructor(readonly frames = new Frames()) {}

  get size(): number {
    return this.parent.length;
  }

  /** Takes the rows that have come since; callers come no later than what they call. */
  take(stacks: StackColumns): this {
    const { parent, frame, rowOfStack, nodeOfRow, parentRow } = this;
    const from = nodeOfRow.length;
    const rows = stacks.stack.length;
    this.lineOfRow = stacks.line;
    rowOfStack.setAll(stacks.stack, from, rows);
    for (let row = from; row < rows; row++) {
      nodeOfRow.push(-1);
      parentRow.push(rowOfStack.get(stacks.parent[row]));
    }
    const pending: number[] = [];
    for (let first = from; first < rows; first++) {
      let row = first;
      while (row >= 0 && nodeOfRow[row] < 0 && pending.length <= rows) {
        pending.push(row);
        row = parentRow[row];
      }
      let node = row >= 0 && nodeOfRow[row] >= 0 ? nodeOfRow[row] : 0;
      for (let next = pending.pop(); next !== undefined; next = pending.pop()) {
        nodeOfRow[next] = node;
        if (this.depth[node] >= DEEPEST) continue;
        const called = this.frames.id(stacks.functionOf(next), stacks.fileOf(next), stacks.firstLine[next]);
        this.below[called] ??= new Map();
        const below = this.below[called];
        let child = below.get(node);
        if (child === undefined) {
          child = parent.length;
          below.set(node, child);
          parent.push(node);
          frame.push(called);
          this.depth.push(this.depth[node] + 1);
        }
        node = nodeOfRow[next] = child;
      }
    }
    for (let row = from; row < rows; row++) if (this.isOwn(row)) this.rowsOfNode.add(nodeOfRow[row], row);
    return this;
  }

  /** Whether a row's node is of its own function: below the deepest they have their caller's. */
  isOwn(row: number): boolean {
    const { nodeOfRow } = this;
    return nodeOfRow[row] !== nodeOfRow[this.parentRow[row]];
  }
}
