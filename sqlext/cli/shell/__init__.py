"""``sqlext shell``: statements typed, given or piped, one Session behind them."""
