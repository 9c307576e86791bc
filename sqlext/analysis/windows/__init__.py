"""Windows of time: table functions, group windows and sessions."""
