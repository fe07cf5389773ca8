"""The names that users of other tools already type, with a recording behind them."""
