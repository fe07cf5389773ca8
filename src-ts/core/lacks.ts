import type { Recording } from './recording';
import type { TableName } from './schema';

/**
 * Why a recording has nothing for a panel, in words: another tool's file does not hold it, or it was left out of a
 * report to make that smaller.
 */
export function lackOf(recording: Recording, tables: readonly TableName[]): string | undefined {
  const lacks = recording.about('lacks');
  if (typeof lacks !== 'object' || lacks === null) return undefined;
  const words = new Map<string, unknown>(Object.entries(lacks));
  for (const table of tables) {
    const why = words.get(table);
    if (typeof why === 'string' && recording.table(table).rows === 0) return why;
  }
  return undefined;
}
