"""Parse statements, a module for each family; ``choice`` picks the parser by the first words."""
