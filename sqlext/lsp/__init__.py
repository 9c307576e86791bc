"""A language server: editors ask, a project of the session answers. ``sqlext lsp`` starts it."""
