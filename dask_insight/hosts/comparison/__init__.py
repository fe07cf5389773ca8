"""A comparison as text, Markdown, HTML and JSON."""

from .forms import facts, html, markdown, tables, text, to_json

__all__ = ["facts", "html", "markdown", "tables", "text", "to_json"]
