"""What the live panels cost and how soon they show something, in a real JupyterLab."""
