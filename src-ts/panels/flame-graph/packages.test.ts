import { expect, test } from 'vitest';
import { layOut } from '../../core/flame-tree';
import { SvgPen } from '../../draw/svg-pen';
import { PLAIN } from '../../draw/theme';
import { FrameColors } from './colors';
import { drawPackages } from './packages';

test('packages stand in a line, most seconds first; what has no room is summed', () => {
  const names = ['dask', 'numpy', 'distributed', 'pandas'];
  const colors = new FrameColors(
    names,
    names.map(name => `/env/lib/python3.12/site-packages/${name}/core.py`)
  );
  const self = Float64Array.of(0, 8, 60, 4, 28);
  const tree = layOut({ size: 5, parent: [-1, 0, 0, 0, 0], frame: [-1, 0, 1, 2, 3], self });
  const words = (width: number): string[] => {
    const pen = new SvgPen(width, 20);
    drawPackages(pen, tree, colors, false, width, PLAIN);
    return [...pen.toString().matchAll(/<text [^>]*>([^<]*)/g)].map(([, text]) => text);
  };
  const all = ['numpy 60\u2009%', 'pandas 28\u2009%', 'dask 8\u2009%', 'distributed 4\u2009%'];
  expect(words(600)).toEqual(all);
  expect(words(270)).toEqual([...all.slice(0, 2), '2 more 12\u2009%']);
  expect(words(20)).toEqual(['4 more 100\u2009%']);
});
