"""What stays in a notebook: the report in a sandboxed frame, pictures, tables, text."""

from .bundle import MIME, bundle, static_bundles
from .static import Static

__all__ = ["MIME", "Static", "bundle", "static_bundles"]
