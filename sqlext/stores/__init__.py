"""Keep small texts under keys: in a folder of this machine, or in an object store behind a URL.

``ByteStore`` is all that the rest of the code knows of object stores.
"""
