"""Adapters for agent frameworks, one small file each.

Each puts two calls of the engine at the framework's own cut points and decides nothing itself. Whatever goes wrong inside
an adapter, the tool does not run.
"""
