"""Render relations that Spark SQL can say itself, and define what nodes need from the renderer."""
