import type { Batch } from './batch';
import { TABLES, type TableName } from './schema';

/** Tables that are worked out from the others, again while a recording grows: only rows of the last edition count. */
export const WORKED_OUT: readonly TableName[] = (Object.keys(TABLES) as TableName[]).filter(
  name => 'edition' in TABLES[name]
);

/** Tables that the kernel makes only while a panel that is seen reads them. */
export const ON_DEMAND: readonly TableName[] = [...WORKED_OUT, 'functions', 'lines'];

/** The edition of a batch of such a table; undefined where it brings columns of rows that are there. */
export function editionOf({ columns, from }: Batch): number | undefined {
  const values = columns.get('edition')?.read();
  if (values && 'values' in values && values.values.length > 0) return values.values[0];
  return from === undefined ? 0 : undefined;
}
