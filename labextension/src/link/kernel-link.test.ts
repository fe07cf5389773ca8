import { PROTOCOL } from '@dask-insight/panels/core/feed';
import type { Kernel } from '@jupyterlab/services';
import { Signal } from '@lumino/signaling';
import { beforeEach, describe, expect, test, vi } from 'vitest';
import { KernelLinks } from './kernel-links';

type Message = Readonly<Record<string, unknown>>;

/** As much of a kernel connection as a link uses. */
class Connection {
  readonly id = 'kernel';
  readonly username = '';
  readonly clientId = 'page';
  spec = Promise.resolve({ language: 'python' });
  readonly disposed = new Signal<this, void>(this);
  readonly iopubMessage = new Signal<this, unknown>(this);
  readonly statusChanged = new Signal<this, string>(this);
  readonly connectionStatusChanged = new Signal<this, string>(this);
  isDisposed = false;
  status = 'busy';
  connectionStatus = 'connected';
  /** Comms that the kernel says it has. */
  comms: string[] = [];
  readonly targets: string[] = [];
  readonly sent: Message[] = [];
  /** How often it was asked for its comms. */
  asked = 0;

  registerCommTarget(name: string): void {
    this.targets.push(name);
  }

  sendControlMessage(message: { header: { msg_type: string }; channel: string; content: Message }): {
    done: Promise<unknown>;
  } {
    expect(message.channel).toBe('control');
    if (message.header.msg_type === 'comm_msg') {
      this.sent.push({ comm: message.content.comm_id, ...(message.content.data as Message) });
      return { done: Promise.resolve() };
    }
    this.asked += 1;
    const comms = Object.fromEntries(this.comms.map(id => [id, { target_name: 'dask_insight' }]));
    return { done: Promise.resolve({ content: { comms } }) };
  }

  /** The kernel part sends. */
  say(data: Message, { type = 'comm_msg', comm = 'c', process = 'one', marked = true, byte = 0 } = {}): void {
    const header = { msg_type: type, session: process };
    const metadata = marked ? { dask_insight: { protocol: PROTOCOL } } : {};
    const buffers = data.type === 'data' ? [new DataView(Uint8Array.of(byte).buffer)] : [];
    this.iopubMessage.emit({ header, metadata, content: { comm_id: comm, data }, buffers });
  }

  kernelStatus(execution_state: string, process: string): void {
    const header = { msg_type: 'status', session: process };
    this.iopubMessage.emit({ header, metadata: {}, content: { execution_state } });
  }

  dispose(): void {
    this.isDisposed = true;
    this.disposed.emit();
  }
}

let connection: Connection;
let links: KernelLinks;
let taken: unknown[];

beforeEach(() => {
  connection = new Connection();
  taken = [];
  links = new KernelLinks(() => ({
    take: bytes => taken.push([...bytes]),
    reset: () => taken.push('reset')
  }));
});

function follow(which = connection) {
  return links.follow(which as unknown as Kernel.IKernelConnection);
}

function types(which = connection): unknown[] {
  return which.sent.map(({ type }) => type);
}

/** Answers the last hello and sends one byte of data. */
function answer(
  which: Connection,
  feed: string,
  byte: number,
  more: { process?: string; comm?: string } = {}
): void {
  const hello = which.sent.filter(({ type }) => type === 'hello').at(-1) as Message;
  const pages = [hello.page];
  which.say({ type: 'hello', protocol: PROTOCOL, version: '', feed, upto: 1, pages }, more);
  which.say({ type: 'data', feed, from: 0, to: 1, replay: false, pages }, { ...more, byte });
}

describe('KernelLink', () => {
  test('greets a kernel part that opens its comm, and takes what it sends', () => {
    const link = follow();
    link.setSettings({ history: 5 });
    expect(connection.targets).toEqual(['dask_insight']);
    expect(link.loaded).toBe(false);
    expect(connection.sent).toEqual([]);
    connection.say({ type: 'hello', protocol: PROTOCOL, feed: 'f' }, { type: 'comm_open' });
    expect(link.loaded).toBe(true);
    expect(connection.sent[0]).toMatchObject({
      type: 'hello',
      comm: 'c',
      have: null,
      visible: false,
      prompt: true
    });
    expect(connection.sent[1]).toMatchObject({ type: 'settings', values: { history: 5 } });
    answer(connection, 'f', 7);
    expect(taken).toEqual([[7]]);
    expect(link.status.phase).toBe('live');
    connection.say({ type: 'state', feed: 'f', notes: ['n'] });
    expect(link.state).toMatchObject({ notes: ['n'] });
  });

  test('finds a comm that is there already, also while the kernel is busy', async () => {
    connection.comms = ['c'];
    const link = follow();
    await expect.poll(() => link.loaded).toBe(true);
    expect(types()).toContain('hello');
    connection.kernelStatus('idle', 'one');
    expect(link.loaded).toBe(true);
  });

  test('asks for a comm when it is connected, not before', async () => {
    connection.comms = ['c'];
    connection.connectionStatus = 'connecting';
    const link = follow();
    await connection.spec;
    expect(connection.asked).toBe(0);
    connection.connectionStatusChanged.emit('connected');
    await expect.poll(() => link.loaded).toBe(true);
  });

  test('knows once it has asked that a kernel part is not there', async () => {
    const link = follow();
    expect(link.seeking).toBe(true);
    await expect.poll(() => link.seeking).toBe(false);
    expect(link.loaded).toBe(false);
  });

  test('does not ask a kernel of another language, and says that it is one', async () => {
    connection.spec = Promise.resolve({ language: 'R' });
    const link = follow();
    await expect.poll(() => link.foreign).toBe(true);
    expect([link.seeking, connection.asked]).toEqual([false, 0]);
  });

  test('tells when the connection is given up before anything was heard', () => {
    connection.connectionStatus = 'connecting';
    const told = vi.fn();
    follow().changed.connect(told);
    connection.connectionStatusChanged.emit('disconnected');
    expect(told).toHaveBeenCalled();
  });

  test('has nothing to tell of a kernel that was shut down', () => {
    const link = follow();
    connection.say({ type: 'hello', protocol: PROTOCOL, feed: 'f' }, { type: 'comm_open' });
    answer(connection, 'f', 1);
    connection.say({ type: 'state', feed: 'f', notes: ['n'] });
    const told = vi.fn();
    link.changed.connect(told);
    connection.dispose();
    expect([link.loaded, link.state]).toEqual([false, undefined]);
    expect(told).toHaveBeenCalled();
  });

  test('adopts the comm of a message that comes by', () => {
    const link = follow();
    connection.say({ type: 'data', feed: 'f', from: 8, to: 9, pages: ['somebody'] });
    expect(link.loaded).toBe(true);
    expect(types()).toEqual(['hello', 'settings']);
    connection.say({ type: 'data' }, { comm: 'other', marked: false });
    expect(types()).toEqual(['hello', 'settings']);
  });

  test('keeps what it has over a restart and takes nothing more of the process that has ended', () => {
    const link = follow();
    connection.say({ type: 'hello', protocol: PROTOCOL, feed: 'f' }, { type: 'comm_open' });
    answer(connection, 'f', 1);
    connection.statusChanged.emit('restarting');
    expect(link.loaded).toBe(false);
    expect(link.status.words).toContain('restarting');
    connection.say({ type: 'data', feed: 'f', from: 1, to: 2 }, { byte: 9 });
    expect(link.loaded).toBe(false);
    expect(taken).toEqual([[1]]);
    const next = { process: 'two', comm: 'd' };
    connection.say({ type: 'hello', protocol: PROTOCOL, feed: 'g' }, { type: 'comm_open', ...next });
    answer(connection, 'g', 2, next);
    expect(taken).toEqual([[1], 'reset', [2]]);
  });

  test('greets again when a kernel part that rests is to go on', () => {
    const link = follow();
    link.wake();
    connection.say({ type: 'hello', protocol: PROTOCOL, feed: 'f' }, { type: 'comm_open' });
    answer(connection, 'f', 1);
    link.wake();
    expect(connection.sent.at(-1)).toMatchObject({ type: 'hello', have: { feed: 'f', at: 1 } });
    expect(types()).toEqual(['hello', 'settings', 'hello']);
  });

  test('notices a restart that somebody else asked for', () => {
    const link = follow();
    connection.say({ type: 'hello', protocol: PROTOCOL, feed: 'f' }, { type: 'comm_open' });
    connection.kernelStatus('restarting', 'server');
    expect(link.loaded).toBe(true);
    connection.kernelStatus('starting', 'two');
    expect(link.loaded).toBe(false);
  });

  test('looks for a kernel part that was loaded after a restart which the page has missed', async () => {
    const link = follow();
    connection.say({ type: 'hello', protocol: PROTOCOL, feed: 'f' }, { type: 'comm_open' });
    connection.comms = ['d'];
    const seen: boolean[] = [];
    link.changed.connect(() => seen.push(link.seeking || link.loaded));
    connection.kernelStatus('busy', 'two');
    expect(link.seeking).toBe(true);
    expect(seen).not.toContain(false);
    await expect.poll(() => link.loaded).toBe(true);
    expect(connection.sent).toContainEqual(expect.objectContaining({ type: 'hello', comm: 'd' }));
  });

  test('tells when the extension is unloaded', () => {
    const link = follow();
    connection.say({ type: 'hello', protocol: PROTOCOL, feed: 'f' }, { type: 'comm_open' });
    answer(connection, 'f', 1);
    connection.say({ type: 'gone', feed: 'f' });
    connection.say({}, { type: 'comm_close', marked: false });
    expect(link.loaded).toBe(false);
    expect(link.status.phase).toBe('gone');
  });

  test('goes over to another connection when its own ends, and on when it comes back', () => {
    const other = new Connection();
    const link = follow();
    expect(follow(other)).toBe(link);
    connection.say({ type: 'hello', protocol: PROTOCOL, feed: 'f' }, { type: 'comm_open' });
    answer(connection, 'f', 1);
    other.say({ type: 'data', feed: 'f', from: 1, to: 2 }, { byte: 9 });
    expect(taken).toEqual([[1]]);
    connection.dispose();
    expect(other.sent.at(-1)).toMatchObject({ type: 'hello', have: { feed: 'f', at: 1 } });
    other.connectionStatusChanged.emit('connecting');
    expect(link.status.phase).toBe('waiting');
    other.connectionStatusChanged.emit('connected');
    expect(types(other)).toEqual(['hello', 'hello']);
    other.dispose();
    expect(link.status.words).toContain('Not connected');
  });

  test('goes over to a connection that is back while its own is not', async () => {
    const other = new Connection();
    const link = follow();
    follow(other);
    for (const each of [connection, other]) {
      each.connectionStatus = 'disconnected';
      each.connectionStatusChanged.emit('disconnected');
    }
    other.connectionStatus = 'connected';
    other.comms = ['c'];
    other.connectionStatusChanged.emit('connected');
    await expect.poll(() => link.loaded).toBe(true);
    answer(other, 'f', 1);
    connection.kernelStatus('busy', 'before');
    connection.statusChanged.emit('restarting');
    expect(link.loaded).toBe(true);
    connection.say({ type: 'data', feed: 'f', from: 1, to: 2 }, { byte: 9 });
    expect(taken).toEqual([[1]]);
  });

  test('goes over to a connection that stands when its own breaks', () => {
    const other = new Connection();
    const link = follow();
    follow(other);
    connection.say({ type: 'hello', protocol: PROTOCOL, feed: 'f' }, { type: 'comm_open' });
    connection.connectionStatus = 'connecting';
    connection.connectionStatusChanged.emit('connecting');
    expect(types(other)).toEqual(['hello']);
    answer(other, 'f', 1);
    expect(link.status.phase).toBe('live');
  });

  test('tells when a connection that only stands by is given up', () => {
    const link = follow();
    const other = new Connection();
    follow(other);
    const told = vi.fn();
    link.changed.connect(told);
    other.connectionStatus = 'disconnected';
    other.connectionStatusChanged.emit('disconnected');
    expect(told).toHaveBeenCalledOnce();
  });

  test('goes over to a new connection where its own has been given up', async () => {
    const link = follow();
    connection.connectionStatus = 'disconnected';
    const other = new Connection();
    other.comms = ['c'];
    follow(other);
    await expect.poll(() => link.loaded).toBe(true);
    expect(types(other)).toContain('hello');
  });

  test('greets again where nobody has answered', () => {
    vi.useFakeTimers();
    try {
      follow();
      connection.say({ type: 'hello', protocol: PROTOCOL, feed: 'f' }, { type: 'comm_open' });
      const hellos = (): number => types().filter(type => type === 'hello').length;
      expect(hellos()).toBe(1);
      vi.advanceTimersByTime(4_000);
      expect(hellos()).toBe(2);
      vi.advanceTimersByTime(4_000);
      expect(hellos()).toBe(2);
      vi.advanceTimersByTime(4_000);
      expect(hellos()).toBe(3);
      answer(connection, 'f', 1);
      vi.advanceTimersByTime(600_000);
      expect(hellos()).toBe(3);
    } finally {
      vi.useRealTimers();
    }
  });

  test('says goodbye and lets go', () => {
    const link = follow();
    connection.say({ type: 'hello', protocol: PROTOCOL, feed: 'f' }, { type: 'comm_open' });
    link.dispose();
    expect(types().at(-1)).toBe('bye');
    connection.say({ type: 'state', feed: 'f' });
    expect(types().at(-1)).toBe('bye');
    expect(follow()).not.toBe(link);
  });
});
