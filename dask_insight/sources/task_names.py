"""What tasks are called: Dask's prefix of the key, without the number of calls of joblib's batches."""

from __future__ import annotations

import re
from functools import lru_cache

#: How many calls a batch makes changes within a run: with the number, one function would have many names.
_OF_JOBLIB = re.compile(r"((?:mixed_)?batch_of_.*_)\d+(_calls)")


@lru_cache(4096)
def task_name(prefix: str) -> str:
    """The name of tasks whose keys have a prefix; the groups keep the number."""
    found = _OF_JOBLIB.fullmatch(prefix)
    return f"{found[1]}n{found[2]}" if found else prefix
