"""Lists of texts that a program gives."""

from __future__ import annotations

import os
from collections.abc import Iterable

from lictor.errors import PolicyError


def texts(name: str, given: Iterable[str | os.PathLike[str]]) -> list[str]:
    """As a list. One text is not taken for a list of its letters: rules for letters would match nothing, or everything."""
    if isinstance(given, (str, bytes, os.PathLike)):
        raise PolicyError(f"`{name}` is one text and not a list of them", f"give a list: `[{given!r}]`")
    return [os.fspath(one) if isinstance(one, os.PathLike) else one for one in given]
