"""Serve the page of running queries: ``sqlext ui``, ``sqlext run --ui``, or ``serve(session, PORT)``.

``app`` answers requests with what ``Session.monitor`` says. ``guards`` refuses requests that are not the page's own.
``events`` tells the page what is new. ``server`` runs it in a thread. ``static`` is the page as tools/ui makes it.
"""

from sqlext.ui.server import UiServer, serve

__all__ = ["UiServer", "serve"]
