/** A notebook of code cells, as it stands in a file; a cell has the id `cell-` and its number from 0. */
export function notebook(...sources: string[]): object {
  return {
    cells: sources.map((source, index) => ({
      cell_type: 'code',
      id: `cell-${index}`,
      metadata: {},
      outputs: [],
      execution_count: null,
      source
    })),
    metadata: {
      kernelspec: { name: 'python3', display_name: 'Python 3 (ipykernel)', language: 'python' },
      language_info: { name: 'python' }
    },
    nbformat: 4,
    nbformat_minor: 5
  };
}

/** Cells that the tests have in common. */
export const cells = {
  load: '%load_ext dask_insight',

  /** A cluster inside the kernel: there at once, gone with it. */
  cluster: (threads = 2): string => `
from distributed import Client
client = Client(n_workers=1, threads_per_worker=${threads}, processes=False, dashboard_address=":0")`,

  /** So many tasks under a name; each waits for so many seconds. */
  tasks: (name: string, count: number, seconds = 0.01): string => `
import time
def ${name}(number):
    time.sleep(${seconds})
    return number
client.gather(client.map(${name}, range(${count}), pure=False));`,

  /** Tasks without end until the file \`enough\` stands beside the notebook; the kernel is busy all the while. In the end it writes how many beside that. */
  busy: (name: string, enough: string): string => `
import os, time
def ${name}(number):
    time.sleep(0.02)
    return number
done = 0
while not os.path.exists("${enough}"):
    done += len(client.gather(client.map(${name}, range(20), pure=False)))
with open("${enough}.done", "w") as file:
    file.write(str(done))
print("enough of ${name}")`
};
