"""Ask a session's policy about what statements use."""
