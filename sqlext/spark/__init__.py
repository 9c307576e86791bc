"""Use Spark: a local one, sessions of classic and Connect, settings, failures in plain words.

``local`` starts a Spark. ``sessions`` holds what classic and Connect differ in. ``reading`` opens sources and views.
"""
