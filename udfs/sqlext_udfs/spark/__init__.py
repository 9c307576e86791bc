"""Put the stateful operators on Spark's transformWithState, by thin adapters.

``registry`` knows stateful functions by name. ``buckets`` puts an operator on a DataFrame and runs it where there is no
state; ``bucket_processor``, ``bucket_steps`` and ``state_forms`` run it with state. ``specified`` makes a function of
any operator with a specification; ``windows`` and the modules named after a room are such functions.
"""

from sqlext_udfs.spark.state_store import STATE_STORE_SETTINGS as STATE_STORE_SETTINGS
