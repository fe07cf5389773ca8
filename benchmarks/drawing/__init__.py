"""How fast the page draws, beside the peers."""
