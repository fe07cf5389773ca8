"""Write the schema's TypeScript twin: ``python -m dask_insight.codegen``.

With ``--check`` nothing is written; the exit code is 1 if the twin is out of date.
"""

from __future__ import annotations

import sys
from pathlib import Path

from .schema import EXTENT, NOTHING, SECEDED, TABLES, UNSEEN, Table

TARGET = Path(__file__).parents[1] / "src-ts" / "core" / "schema.ts"

_HEAD = """\
// Generated from dask_insight/schema.py by `python -m dask_insight.codegen`. Do not edit.
"""

_TYPES = """\
export type Kind = 'f64' | 'f32' | 'u32' | 'u8' | 'time' | 'sym' | 'str';

export type TableName = keyof typeof TABLES;

/** The columns of table T whose kind is K: asking for a wrong one does not compile. */
export type ColumnOf<T extends TableName, K extends Kind = Kind> = {
  [C in keyof (typeof TABLES)[T]]: (typeof TABLES)[T][C] extends K ? C : never;
}[keyof (typeof TABLES)[T]];

/** A row of table T, by column. */
export type RowOf<T extends TableName> = {
  readonly [C in keyof (typeof TABLES)[T]]: (typeof TABLES)[T][C] extends 'sym' | 'str' ? string : number;
};
"""


def typescript() -> str:
    """The schema as the text of a TypeScript module."""
    constants = (
        f"/** The id that stands for 'no task', 'no run' or 'no stack'. */\n"
        f"export const NOTHING = {NOTHING};\n"
        f"/** The action of `phases` in which a task ran on, but had given its thread back. */\n"
        f"export const SECEDED = {SECEDED!r};\n"
    )
    seen = (table for name, table in TABLES.items() if UNSEEN.get(name) != ())
    tables = ",\n".join(map(_table, seen))
    return "\n".join(
        (_HEAD, constants, f"export const TABLES = {{\n{tables}\n}} as const;\n", _TYPES, _extent())
    )


def _extent() -> str:
    times = ",\n".join(f"  {table}: [{', '.join(map(repr, names))}]" for table, names in EXTENT.items())
    return (
        "/** Times that tell when a recording began and ended; those of other tables may reach far back. */\n"
        "export const EXTENT: { readonly [T in TableName]?: readonly ColumnOf<T, 'time'>[] } = {\n"
        f"{times}\n}};\n"
    )


def _table(table: Table) -> str:
    unseen = UNSEEN.get(table.name, ())
    columns = ",\n".join(
        f"    /** {column.doc} */\n    {column.name}: '{column.kind}'"
        for column in table.columns
        if column.name not in unseen
    )
    return f"  /** {table.doc} */\n  {table.name}: {{\n{columns}\n  }}"


def main(arguments: list[str]) -> int:
    """Write or check the twin; returns the exit code."""
    wanted = typescript()
    if "--check" not in arguments:
        TARGET.write_text(wanted, encoding="utf-8")
        return 0
    if TARGET.exists() and TARGET.read_text(encoding="utf-8") == wanted:
        return 0
    print(f"{TARGET.name} is out of date: run python -m dask_insight.codegen", file=sys.stderr)
    return 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
