"""Faults of what a program brings along: told to its log, never to the agent."""

from __future__ import annotations


def failed(what: str) -> None:
    """Logs the exception that is being handled."""
    import logging

    logging.getLogger("lictor").exception(what)


def failed_with(what: str, error: BaseException) -> None:
    """Logs an exception that the bridge caught."""
    import logging

    logging.getLogger("lictor").error(what, exc_info=error)
