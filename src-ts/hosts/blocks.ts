import { fromAscii91 } from '../core/ascii91';
import { inflate, load, Pace } from '../core/load';
import type { Recording } from '../core/recording';

/**
 * Reads what stands in a page's data blocks into a recording: each block is
 * the text form of zlib over batches. Blocks leave the page as they are read, so that
 * their text does not stay in memory beside the columns.
 *
 * Returns in words what could not be read, one line a block that is damaged.
 */
export async function readBlocks(
  recording: Recording,
  blocks: readonly HTMLElement[],
  progress: (share: number) => void,
  pace = new Pace()
): Promise<readonly string[]> {
  const damages: string[] = [];
  for (let index = 0; index < blocks.length; index++) {
    const text = blocks[index].textContent ?? '';
    blocks[index].remove();
    try {
      const bytes = await inflate(fromAscii91(text));
      await load(recording, bytes, share => progress((index + share) / blocks.length), pace);
    } catch (error) {
      const why = error instanceof Error ? error.message : String(error);
      const said = why.replace(/\.$/, '');
      damages.push(`A part of this report (${blocks[index].id}) is damaged and missing here: ${said}.`);
    }
  }
  return damages;
}
