"""A comparison as text, Markdown, HTML and JSON."""

from .forms import facts, folded, html, markdown, tables, text, to_json

__all__ = ["facts", "folded", "html", "markdown", "tables", "text", "to_json"]
