"""A server of the Model Context Protocol: an assistant asks, the session answers. ``sqlext mcp`` starts it."""
