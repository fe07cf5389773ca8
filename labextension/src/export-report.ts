import { Notification } from '@jupyterlab/apputils';
import { PathExt } from '@jupyterlab/coreutils';
import type { Kernel } from '@jupyterlab/services';
import type { Place } from './kernels/place';

const RECORDING = "__import__('dask_insight.session.live', fromlist=['live']).live().recording";

/** Has the kernel write what it has recorded into an HTML file, and says where that is. */
export async function exportReport(place: Place): Promise<void> {
  const { kernel } = place;
  if (!kernel) return;
  // The path of a drive other than the first begins with the name of that drive and a colon.
  const document = PathExt.basename(place.path, PathExt.extname(place.path)).replace(/^.*:/, '');
  const name = `${document}-dask-${stamp(new Date())}.html`;
  const written = write(kernel, name);
  const waits = kernel.status === 'busy' ? ' The kernel writes it when its cell has ended.' : '';
  Notification.promise(written, {
    pending: { message: `Saving a report of ${place.name}.${waits}`, options: { autoClose: false } },
    success: { message: path => `Report saved: ${path as string}`, options: { autoClose: 15_000 } },
    error: { message: reason => `The report was not saved: ${wordsOf(reason)}` }
  });
  await written.catch(() => undefined);
}

/** Writes it; resolves to its path on the kernel's machine. A cell that fails takes with it what waits for its end. */
async function write(kernel: Kernel.IKernelConnection, name: string, again = true): Promise<string> {
  const future = kernel.requestExecute({
    code: '',
    silent: true,
    store_history: false,
    user_expressions: { path: `str(${RECORDING}.report(${JSON.stringify(name)}).resolve())` }
  });
  const { content } = await future.done;
  if (content.status === 'aborted' && again) return write(kernel, name, false);
  if (content.status !== 'ok') throw new Error('the kernel did not answer');
  const { path } = content.user_expressions as Record<string, Answer>;
  if (path.status !== 'ok') throw new Error(`${path.ename}: ${path.evalue}`);
  return unquoted(path.data['text/plain']);
}

type Answer =
  | { status: 'ok'; data: { 'text/plain': string } }
  | { status: 'error'; ename: string; evalue: string };

/** The text that Python's `repr` of a path stands for. */
function unquoted(text: string): string {
  return text.slice(1, -1).replace(/\\(['\\])/g, '$1');
}

function wordsOf(reason: unknown): string {
  return reason instanceof Error ? reason.message : String(reason);
}

function stamp(now: Date): string {
  const two = (value: number): string => String(value).padStart(2, '0');
  const day = `${now.getFullYear()}${two(now.getMonth() + 1)}${two(now.getDate())}`;
  return `${day}-${two(now.getHours())}${two(now.getMinutes())}${two(now.getSeconds())}`;
}
