/** Tells of each column that cannot be read, in words with all that were before; to be given to a recording. */
export function unreadColumns(tell: (words: string) => void): (damage: string) => void {
  const all = new Set<string>();
  return damage => {
    const damages = [...all.add(damage)].join('; ');
    tell(`Columns of this report cannot be read and are missing here: ${damages}.`);
  };
}
