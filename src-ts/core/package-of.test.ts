import { expect, it } from 'vitest';
import { packageOf, shortFile } from './package-of';

it.each([
  ['/opt/env/lib/python3.11/site-packages/numpy/core/_methods.py', 'numpy'],
  ['C:\\env\\Lib\\site-packages\\pandas\\core\\frame.py', 'pandas'],
  ['/usr/lib/python3/dist-packages/six.py', 'six'],
  ['/usr/lib/python3.11/threading.py', 'Python'],
  ['C:\\Users\\ada\\miniconda3\\envs\\dask\\Lib\\json\\decoder.py', 'Python'],
  ['C:\\Python311\\Lib\\threading.py', 'Python'],
  ['C:\\Users\\ada\\project\\lib\\model.py', 'your code'],
  ['<frozen importlib._bootstrap>', 'Python'],
  ['/home/ada/project/model.py', 'your code'],
  ['/tmp/ipykernel_812/35.py', 'your code'],
  ['<ipython-input-3-abc>', 'your code'],
  ['/home/ada/src/distributed/worker.py', 'distributed'],
  ['/home/ada/dask/distributed/distributed/worker.py', 'distributed'],
  ['', 'native']
])('%s belongs to %s', (file, name) => {
  expect(packageOf(file)).toBe(name);
});

it('shortens files to what a person recognises', () => {
  expect(shortFile('/opt/env/lib/python3.11/site-packages/numpy/core/_methods.py')).toBe(
    'numpy/core/_methods.py'
  );
  expect(shortFile('/home/ada/project/model.py')).toBe('project/model.py');
});
