"""Parse queries: SELECT blocks, what stands in FROM, OVER, MATCH_RECOGNIZE."""
