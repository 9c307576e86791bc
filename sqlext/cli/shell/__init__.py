"""Provide ``sqlext shell``: statements that are typed, given or piped, in one Session.

``command`` reads the arguments, ``runner`` runs statements, ``screen`` shows a streaming SELECT, and
``prompt`` is for typing.
"""
