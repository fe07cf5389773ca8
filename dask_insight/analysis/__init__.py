"""Questions to a recording: one module for each, a function of a recording."""
