"""What stays in a notebook: the report in a sandboxed frame, pictures, tables, text."""

from .bundle import LIMIT, MIME, bundle, static_bundles
from .static import Static

__all__ = ["LIMIT", "MIME", "Static", "bundle", "static_bundles"]
