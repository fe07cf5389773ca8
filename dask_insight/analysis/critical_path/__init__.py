"""What kept the run from ending sooner: the path of blame, from its end back to its beginning."""

from .table import critical_path, critical_rows

__all__ = ["critical_path", "critical_rows"]
