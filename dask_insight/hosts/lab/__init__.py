"""Live panels: a comm from this kernel to every page that shows it."""

from .extension import load, unload

__all__ = ["load", "unload"]
