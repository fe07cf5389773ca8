"""Where recordings come from: one module or package for each origin."""
