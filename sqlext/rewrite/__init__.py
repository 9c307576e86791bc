"""Rewrite plans to Spark SQL: rules over the tree, then text; nothing runs here.

Each room imports only from itself and from rooms above it in this list:

expressions  an expression as Spark SQL
script       what a plan becomes: views, steps, the final query
rules        changes of the plan before it becomes text
relations    what nodes need from the renderer; tables, UNNEST and changelog functions as text
arrow        an operator's input as a program that runs where rows are read
operators    our stream operators as steps of a script
compiler     plans, INSERTs and DataFrames to scripts
export       scripts as files: Spark SQL, Databricks, pipelines
"""
