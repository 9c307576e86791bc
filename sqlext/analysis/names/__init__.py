"""Look names up outside of a query: in the catalog, the settings and the registry."""
