"""Describe a query as a Spark script: views, steps, the final query, and what its fingerprint keeps."""
