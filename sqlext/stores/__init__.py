"""Keep small texts under keys: in a folder of this machine, in memory, or in an object store behind a URL.

``Store`` is all that the rest of the code knows of object stores. ``Lease`` makes one owner at a time of a place.
"""
