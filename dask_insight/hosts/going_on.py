"""What the report of a run has that is not over: it says so, and loads itself again."""

from __future__ import annotations

from datetime import datetime
from math import ceil

from dask_insight import words

#: A page out of sight, or not open yet, waits. Others stay where they are: zoom and selection stand in the
#: address, and browsers lose the place where charts come later.
_RELOAD = """
{
  const root = document.documentElement;
  const opened = () => {
    if (history.state) scrollTo(0, history.state.top);
    history.replaceState(null, "");
  };
  new MutationObserver(opened).observe(root, { attributeFilter: ["data-opened"] });
  setInterval(() => {
    if (document.hidden || !root.dataset.opened) return;
    history.replaceState({ top: scrollY }, "");
    location.reload();
  }, %d);
}
"""


def reloading(every: float) -> str:
    """A script that loads its page again every so many seconds, at least one."""
    return _RELOAD % (1000 * ceil(every))


def so_far(every: float) -> str:
    """A sentence for a page that is written now, and anew after so many seconds."""
    now = datetime.now().astimezone()
    return (
        f"It still ran at {now:%Y-%m-%d %H:%M:%S %Z}, when this was written. "
        f"The page brings itself up to date every {words.duration(ceil(every))}."
    )
