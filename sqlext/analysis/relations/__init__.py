"""What several features do with a relation."""
