import { spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { expect } from './lab';

/** A cluster in processes of its own; what it computes costs the kernel nothing but our recording. */
export async function cluster(): Promise<{
  address: string;
  tell(words: string): Promise<void>;
  end(): void;
}> {
  const child = spawn(process.env.PYTHON ?? 'python', ['-m', 'benchmarks.live.cluster'], {
    cwd: fileURLToPath(new URL('../..', import.meta.url)),
    stdio: ['pipe', 'pipe', 'inherit']
  });
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  const next = async (): Promise<string> => (await lines.next()).value;
  return {
    address: await next(),
    tell: async words => {
      child.stdin.write(`${words}\n`);
      expect(await next()).toBe('done');
    },
    end: () => child.stdin.end()
  };
}
