"""Bridges to agents' own hooks."""
