"""Trace rows of a result to rows of tables: ``origins`` goes down the plan, ``tests`` are what it finds. No Spark."""
