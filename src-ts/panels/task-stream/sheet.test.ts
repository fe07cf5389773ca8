import { expect, test, vi } from 'vitest';
import { ColorRegistry } from '../../draw/palette';
import { PLAIN } from '../../draw/theme';
import { FIRST_NAME, FULL } from './cells';
import { CellColors } from './colors';
import { Sheet } from './sheet';

test.each([false, true])('phases of lanes that step back do so too (shapes: %s)', withPhases => {
  let pixels = new Uint32Array(0);
  const putImageData = ({ data }: ImageData): void => {
    pixels = new Uint32Array(data.buffer);
  };
  vi.spyOn(HTMLCanvasElement.prototype, 'getContext').mockReturnValue({ putImageData } as never);
  const transfer = (FIRST_NAME << 6) | FULL;
  const colors = new CellColors(PLAIN, [], new ColorRegistry()).table(() => true, false);
  const phases = Uint32Array.of(transfer, transfer);
  new Sheet().paint(new Uint32Array(2), phases, 1, 2, 0, colors, lane => lane === 1, withPhases, []);
  const [lowest, lowestOfFaint] = withPhases ? [pixels[2], pixels[5]] : [pixels[0], pixels[1]];
  expect(lowest).toBe(colors.phases[transfer]);
  const fainter = new CellColors(PLAIN, [], new ColorRegistry()).table(() => true, true).phases;
  expect(lowestOfFaint).toBe(fainter[transfer]);
  expect(lowestOfFaint).not.toBe(lowest);
  vi.restoreAllMocks();
});
