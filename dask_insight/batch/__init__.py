"""Some rows of one table, by column, as bytes. The only format there is.

A batch is one msgpack map::

    {"table": str, "rows": int, "columns": [{"name": str, "kind": str, "data": bin, …}]}

It stands alone: it carries its own symbols, so batches can be dropped,
replayed and concatenated. Integers are little-endian. Numbers wider than a
byte are stored as byte planes (all first bytes, then all second bytes, …),
which costs nothing to read and lets a general compressor see their structure.

=======  ====================================================================
kind     data
=======  ====================================================================
u8       one byte a row
f32 f64  IEEE floats, as planes
u32      difference from the row before (from 0 at first), zigzag, as planes
time     microseconds relative to a reference, zigzag u32, as planes; the
         reference is ``base`` at first and then the last finite value above,
         or, with ``since``, the same row's value of that column (``base``
         where that is missing). 0xFFFFFFFF is missing. With ``wide``, a
         difference does not fit 32 bits and data are f64 planes of it, NaN
         where missing. ``base`` is whole microseconds since the epoch. With
         ``unit``, differences are in units of that many microseconds.
sym      index into ``symbols`` (list of str); ``width`` bytes a row, planes
str      byte length of each row as u32 planes, then all texts, UTF-8
=======  ====================================================================

Zigzag maps a signed difference d to ``2 d`` if d ≥ 0, else ``-2 d - 1``.
With ``planes``, only so many of the four planes of a u32 or a time are there;
the higher ones are zero.

With ``few``, floats are a byte a row: a place in the numbers that stand there.
Texts may instead be a few forms with numbers in them; see `forms.numbered`.

In HTML reports, and nowhere else, a batch may have ``from``: a row from which
on rows of its table are there already. It brings further columns of these;
their ``since`` may name columns that came with the rows.
"""

from .decoder import announced, decode, read, split, table_of
from .encoder import encode
from .planes import has_missing
from .unpacked import Allowance, unpacked
from .values import Array, Batch, BatchError, Symbols, Texts, Values, default, intern

__all__ = [
    "Allowance",
    "Array",
    "Batch",
    "BatchError",
    "Symbols",
    "Texts",
    "Values",
    "announced",
    "decode",
    "default",
    "encode",
    "has_missing",
    "intern",
    "read",
    "split",
    "table_of",
    "unpacked",
]
