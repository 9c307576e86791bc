"""Test scripts against the files beside them: ``job.sql``, ``job.out``, and ``job.steps`` if it never ends.

``render`` makes text of results, ``scripts`` runs a script, ``steps`` one that never ends, ``runner`` compares.
"""
