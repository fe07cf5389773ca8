"""``python -m dask_insight``: the command line."""

import sys

from .hosts.cli import main

if __name__ == "__main__":
    sys.exit(main())
