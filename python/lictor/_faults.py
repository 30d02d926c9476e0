"""Faults of what a program brings along: told to its log, never to the agent."""

from __future__ import annotations


def failed(what: str) -> None:
    """Logs the exception that is being handled."""
    import logging

    logging.getLogger("lictor").exception(what)
