"""Compile expressions that SQL cannot compute, over several rows at once, to trees for operators."""
