"""Windows: their kinds and lengths, and rows whose sessions are known before they are grouped."""
