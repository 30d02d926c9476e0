"""The four layers, in the order in which they are judged."""

from __future__ import annotations

from enum import Enum


class GovernanceLayer(str, Enum):
    """Where an agent may go, what it may spend, whether it makes sense, and what is only recorded."""

    BOUNDARY = "BOUNDARY"
    RESOURCE = "RESOURCE"
    INTENT = "INTENT"
    OBSERVE = "OBSERVE"
