import { beforeEach, describe, expect, test, vi } from 'vitest';
import { BatchError } from './batch';
import { type Delivery, FeedReader, PROTOCOL } from './feed';

type Message = Readonly<Record<string, unknown>>;

class Port {
  readonly sent: Message[] = [];
  readonly calls: unknown[] = [];
  fail = false;
  send(message: Message): void {
    this.sent.push(message);
  }
  how: Delivery = {};
  take(bytes: Uint8Array, how: Delivery): void {
    this.how = how;
    if (this.fail) throw new BatchError('torn');
    this.calls.push(bytes.length > 9 ? bytes.length : [...bytes]);
  }
  reset(): void {
    this.calls.push('reset');
  }
  state(state: Message): void {
    this.calls.push(state);
  }
  status(): void {}
  types(): unknown[] {
    return this.sent.map(message => message.type);
  }
}

let port: Port;
let reader: FeedReader;

beforeEach(() => {
  port = new Port();
  reader = new FeedReader(port, { version: '0.1.0', page: 'p' });
});

function answer(more: Message = {}): void {
  const hello = { type: 'hello', protocol: PROTOCOL, version: '0.1.0', feed: 'f', upto: 0, pages: ['p'] };
  reader.receive({ ...hello, ...more }, []);
}

function data(from: number, to: number, byte: number, more: Message = {}): void {
  const message = { type: 'data', feed: 'f', from, to, replay: false, pages: ['p'], ...more };
  reader.receive(message, [new DataView(Uint8Array.of(0, byte).buffer, 1)]);
}

describe('FeedReader', () => {
  test('says hello, takes in what comes, and tells how far it is', () => {
    expect(reader.status.phase).toBe('waiting');
    reader.hello();
    const whole = { visible: true, needs: [], unpacks: true };
    expect(port.sent).toEqual([
      { type: 'hello', page: 'p', protocol: PROTOCOL, version: '0.1.0', have: null, ...whole }
    ]);
    answer({ upto: 4 });
    expect(reader.status).toMatchObject({ phase: 'replay', at: 0, upto: 4 });
    data(0, 3, 1, { replay: true });
    expect(reader.status.words).toContain('75 %');
    data(3, 4, 2);
    expect(reader.status).toMatchObject({ phase: 'live', at: 4 });
    expect(port.calls).toEqual([[1], [2]]);
  });

  test('hands on which pieces are compressed, and whether more follows', () => {
    reader.hello();
    answer();
    data(0, 3, 1, { packed: [7, 8], replay: true });
    expect(port.how).toEqual({ packed: [7, 8], more: true });
    data(3, 4, 1);
    expect(port.how).toEqual({ packed: [], more: false });
  });

  test('leaves aside what is for other pages, what it has, and nonsense', () => {
    reader.hello();
    answer();
    data(0, 1, 1);
    data(1, 2, 9, { pages: ['other'] });
    data(0, 0, 9, { from: 1, to: 1 });
    reader.receive('data', []);
    reader.receive(null, []);
    reader.receive({ type: 'data', feed: 'f', from: 1, to: 2 }, []);
    expect(port.calls).toEqual([[1]]);
    expect(port.types()).toEqual(['hello']);
  });

  test('says hello again, once, where it has missed something', () => {
    reader.hello();
    answer();
    data(0, 1, 1);
    data(5, 6, 9);
    data(6, 7, 9);
    expect(port.types()).toEqual(['hello', 'hello']);
    expect(port.sent[1].have).toEqual({ feed: 'f', at: 1 });
    answer({ upto: 7 });
    data(1, 7, 2);
    expect(port.calls).toEqual([[1], [2]]);
  });

  test('goes on with what fits while its greeting waits for a cell', () => {
    reader.hello();
    answer();
    data(0, 2, 1);
    reader.hello();
    data(2, 3, 2);
    data(4, 5, 3);
    expect(port.calls).toEqual([[1], [2]]);
    expect(port.types().filter(type => type === 'hello')).toHaveLength(2);
    answer({ upto: 5 });
    data(3, 5, 4);
    expect(port.calls).toEqual([[1], [2], [4]]);
  });

  test('begins anew where the kernel does, and where it is another recording', () => {
    reader.hello();
    answer();
    data(0, 3, 1);
    data(0, 5, 2);
    expect(port.calls).toEqual([[1], 'reset', [2]]);
    answer({ feed: 'g', pages: undefined });
    expect(port.types()).toEqual(['hello', 'hello']);
    answer({ feed: 'g' });
    data(0, 1, 3, { feed: 'g' });
    expect(port.calls).toEqual([[1], 'reset', [2], 'reset', [3]]);
  });

  test('keeps what it has while there is no way to the kernel, and goes on from there', () => {
    reader.hello();
    answer();
    data(0, 3, 1);
    reader.lost('Reconnecting.');
    expect(reader.status).toMatchObject({ phase: 'waiting', words: 'Reconnecting.' });
    reader.hello();
    expect(port.sent.at(-1)).toMatchObject({ have: { feed: 'f', at: 3 } });
    answer({ upto: 3 });
    expect(reader.status.phase).toBe('live');
    expect(port.calls).toEqual([[1]]);
  });

  test('acknowledges seldom', () => {
    reader.hello();
    answer();
    for (let at = 0; at < 299; at++) data(at, at + 1, 1);
    expect(port.types()).toEqual(['hello']);
    data(299, 300, 1);
    expect(port.sent.at(-1)).toEqual({ type: 'ack', page: 'p', at: 300 });
    const big = new Uint8Array(8 * 2 ** 20);
    reader.receive({ type: 'data', feed: 'f', from: 300, to: 301, pages: ['p'] }, [big.buffer]);
    expect(port.sent.at(-1)).toEqual({ type: 'ack', page: 'p', at: 301 });
  });

  test('acknowledges soon where that waits for no cell', () => {
    reader = new FeedReader(port, { version: '0.1.0', page: 'p', prompt: true });
    reader.hello();
    expect(port.sent[0]).toMatchObject({ type: 'hello', prompt: true });
    answer();
    const half = new Uint8Array(128 * 2 ** 10);
    for (const from of [0, 1]) {
      expect(port.types()).toEqual(['hello']);
      reader.receive({ type: 'data', feed: 'f', from, to: from + 1, pages: ['p'] }, [half.buffer]);
    }
    expect(port.sent.at(-1)).toEqual({ type: 'ack', page: 'p', at: 2 });
  });

  test('says hello until somebody answers, ever more seldom, and says that nobody does', () => {
    vi.useFakeTimers();
    try {
      reader = new FeedReader(port, { version: '0.1.0', page: 'p', unanswered: 'Nobody.' });
      reader.hello();
      const hellosAfter = (milliseconds: number): number => {
        vi.advanceTimersByTime(milliseconds);
        return port.types().filter(type => type === 'hello').length;
      };
      expect(hellosAfter(3_999)).toBe(1);
      expect(reader.status.words).toBe('Waiting for the kernel.');
      expect(hellosAfter(1)).toBe(2);
      expect(reader.status).toMatchObject({ phase: 'waiting', words: 'Nobody.' });
      expect(hellosAfter(7_999)).toBe(2);
      expect(hellosAfter(1)).toBe(3);
      answer();
      expect(reader.status.words).toBe('Live.');
      expect(hellosAfter(600_000)).toBe(3);
      for (const end of [() => reader.bye(), () => reader.lost('No.'), () => answer({ type: 'gone' })]) {
        reader.hello();
        const before = hellosAfter(0);
        end();
        expect(hellosAfter(600_000)).toBe(before);
      }
    } finally {
      vi.useRealTimers();
    }
  });

  test('says which side is too old', () => {
    reader.hello();
    answer({ protocol: PROTOCOL + 1, version: '9.0' });
    expect(reader.status.phase).toBe('refused');
    expect(reader.status.words).toMatch(/Install the newer one where JupyterLab runs/);
    answer({ protocol: PROTOCOL - 1, version: '0.0.1' });
    expect(reader.status.words).toMatch(/Install the newer one where the kernel runs/);
    data(0, 1, 1);
    expect(port.calls).toEqual([]);
  });

  test('goes on when the side that was too old has been upgraded', () => {
    reader.hello();
    answer({ protocol: PROTOCOL - 1, version: '0.0.1' });
    answer({ version: '0.2.0', pages: undefined });
    expect(port.types()).toEqual(['hello', 'hello']);
    answer({ version: '0.2.0' });
    data(0, 1, 1);
    expect(reader.status.phase).toBe('live');
    expect(port.calls).toEqual([[1]]);
  });

  test('works with another version of the same protocol', () => {
    reader.hello();
    answer({ version: '0.9.0' });
    data(0, 1, 1);
    expect(reader.status.phase).toBe('live');
  });

  test('tells of state, visibility, settings and the end', () => {
    reader.hello();
    answer();
    reader.receive({ type: 'state', feed: 'f', busy: null }, []);
    reader.receive({ type: 'state', feed: 'other' }, []);
    expect(port.calls).toEqual([{ type: 'state', feed: 'f', busy: null }]);
    reader.setVisible(false);
    reader.setVisible(false);
    reader.set({ history: 1000 });
    reader.bye();
    expect(port.sent.slice(1)).toEqual([
      { type: 'visible', page: 'p', visible: false },
      { type: 'settings', page: 'p', values: { history: 1000 } },
      { type: 'bye', page: 'p' }
    ]);
    reader.receive({ type: 'gone', feed: 'f' }, []);
    expect(reader.status.phase).toBe('gone');
  });

  test('goes on after something that cannot be read, and says so', () => {
    reader.hello();
    answer();
    port.fail = true;
    data(0, 1, 1);
    port.fail = false;
    data(1, 2, 2);
    expect(port.calls).toEqual([[2]]);
    expect(reader.status).toMatchObject({ phase: 'live', at: 2 });
    expect(reader.status.words).toContain('torn');
    reader.hello();
    answer({ feed: 'another' });
    expect(reader.status.words).toBe('Live.');
  });

  test('says what it needs, once and with every greeting, and takes the answers in', () => {
    reader.need(['budget']);
    reader.hello();
    answer();
    reader.need(['budget']);
    reader.need(['budget', 'findings']);
    reader.hello();
    expect(port.sent.filter(({ type }) => type === 'needs')).toMatchObject([
      { tables: ['budget'] },
      { tables: ['budget', 'findings'] }
    ]);
    expect(port.sent.at(-1)).toMatchObject({ type: 'hello', needs: ['budget', 'findings'] });
    const bytes = [new DataView(Uint8Array.of(7, 8).buffer)];
    reader.receive({ type: 'answers', feed: 'f', pages: ['p'] }, bytes);
    expect(port.calls).toEqual([]);
    answer();
    reader.receive({ type: 'answers', feed: 'f', pages: ['p'] }, bytes);
    reader.receive({ type: 'answers', feed: 'other' }, bytes);
    reader.receive({ type: 'answers', feed: 'f', pages: ['q'] }, bytes);
    reader.receive({ type: 'answers', feed: 'f' }, []);
    expect(port.calls).toEqual([[7, 8]]);
    expect(reader.status.at).toBe(0);
  });
});
