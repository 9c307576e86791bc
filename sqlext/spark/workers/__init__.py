"""Bring our code to the Python of Spark's workers, and refuse workers that cannot run it before a row is read.

``places`` knows where workers run, ``look`` asks them what they have, ``archive`` is what is shipped to them, ``needs``
judges what they say, ``folders`` tries whether they see a folder. ``ready`` does all of it, once for each Spark.
"""
