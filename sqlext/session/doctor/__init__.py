"""Say what is here and what is missing: machine, packages, Spark's capabilities, places, extras, workers.

Each line comes from the check that a start makes: environment, capabilities, extras, locations, and the session's own
checks of scripts. No rule stands here a second time.
"""
