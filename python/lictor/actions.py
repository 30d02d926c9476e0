"""What an agent wants to do."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from enum import Enum
from types import MappingProxyType
from typing import Any

from lictor._lictor import RawAction
from lictor.errors import ActionError


class ActionKind(str, Enum):
    """The kinds that built-in guards know. Other names are kinds too."""

    READ = "read"
    WRITE = "write"
    BASH = "bash"
    EXECUTE_CODE = "execute_code"
    SUBMIT_TASK = "submit_task"
    FETCH = "fetch"
    TOOL = "tool"
    DELEGATE = "delegate"


_KINDS = {kind.value: kind for kind in ActionKind}

# What an action is written with.
_FIELDS = {
    "kind", "payload", "session_id", "task_type", "tool", "agent", "user", "tenant", "chain", "parent_session_id", "tool_use_id",
    "cwd", "metadata",
}

# Tools by their usual names, with the argument that has to be text for the name to be believed.
_TOOLS = {
    **dict.fromkeys(["bash", "shell", "exec", "run_command", "execute_command", "terminal"], (ActionKind.BASH, "command")),
    **dict.fromkeys(["read", "read_file", "readfile", "view_file"], (ActionKind.READ, "path")),
    **dict.fromkeys(["write", "write_file", "writefile", "create_file", "edit", "edit_file", "multiedit"], (ActionKind.WRITE, "path")),
    **dict.fromkeys(["fetch", "web_fetch", "webfetch", "fetch_url"], (ActionKind.FETCH, "url")),
}


class Action:
    """An action, checked once. Equal actions have equal digests."""

    # Read-only: what is judged is what was given, whatever a guard does with the object.
    __slots__ = ("_judged", "_kind", "_metadata", "_options", "_payload", "_raw")
    __match_args__ = ("kind", "payload")

    def __init__(
        self,
        kind: ActionKind | str,
        payload: Mapping[str, Any] | None = None,
        *,
        session_id: str | None = None,
        task_type: str | None = None,
        tool: str = "",
        agent: str = "",
        user: str | None = None,
        tenant: str | None = None,
        chain: Sequence[str] = (),
        parent_session_id: str | None = None,
        tool_use_id: str | None = None,
        cwd: str | os.PathLike[str] | None = None,
        metadata: Mapping[str, object] | None = None,
    ) -> None:
        name = kind.value if isinstance(kind, ActionKind) else kind
        data = _plain(payload)
        if isinstance(chain, (str, bytes)) or not isinstance(chain, Iterable):
            raise ActionError("`chain` is not a list of agents", "give a list of their names")
        if cwd is not None and not isinstance(cwd, (str, os.PathLike)):
            raise ActionError("`cwd` is not a path", "give a text or a `pathlib.Path`")
        if metadata is not None and not isinstance(metadata, Mapping):
            raise ActionError("`metadata` is not a mapping", "give a mapping, or nothing")
        options: dict[str, Any] = {
            "session_id": session_id,
            "task_type": task_type,
            "tool": tool,
            "agent": agent,
            "user": user,
            "tenant": tenant,
            "chain": list(chain),
            "parent_session_id": parent_session_id,
            "tool_use_id": tool_use_id,
            "cwd": os.getcwd() if cwd is None else os.fspath(cwd),
        }
        try:
            raw = RawAction(name, data, **options)
        except ActionError:
            raise
        except UnicodeError as error:
            said = _named(lambda value: not _is_unicode(value), "is not Unicode text", name, options)
            raise ActionError(said or str(error), "give text that can be written as UTF-8") from error
        except TypeError as error:
            said = _named(lambda value: not _is_text(value), "is not text", name, options)
            raise ActionError(said or str(error), "give text, or nothing") from error
        except ValueError as error:
            raise ActionError(str(error), "give plain data: text, numbers, lists and mappings") from error
        self._raw = raw
        # The last session of an engine that it was judged in, and the action in it.
        self._judged: tuple[str, RawAction] | None = None
        self._payload = MappingProxyType(data)
        self._kind: ActionKind | str = _KINDS.get(name, name)
        self._options: Mapping[str, Any] = MappingProxyType(options)
        self._metadata: Mapping[str, object] = MappingProxyType(dict(metadata or {}))

    @property
    def kind(self) -> ActionKind | str:
        """One of :class:`ActionKind`, or the name of another kind."""
        return self._kind

    @property
    def options(self) -> Mapping[str, Any]:
        """Session, tool, directory and so on, by name. Read-only."""
        return self._options

    @property
    def metadata(self) -> Mapping[str, object]:
        """Whatever the program wants to find again. It is not judged. Read-only."""
        return self._metadata

    @property
    def payload(self) -> Mapping[str, Any]:
        """What the action is about. Read-only."""
        return self._payload

    @property
    def digest(self) -> str:
        """What grants are bound to."""
        return self._raw.digest

    @property
    def session_id(self) -> str | None:
        value: str | None = self.options["session_id"]
        return value

    @property
    def task_type(self) -> str | None:
        value: str | None = self.options["task_type"]
        return value

    @property
    def tool(self) -> str:
        return str(self.options["tool"])

    @property
    def agent(self) -> str:
        return str(self.options["agent"])

    @property
    def tool_use_id(self) -> str | None:
        value: str | None = self.options["tool_use_id"]
        return value

    @property
    def user(self) -> str | None:
        value: str | None = self.options["user"]
        return value

    @property
    def tenant(self) -> str | None:
        value: str | None = self.options["tenant"]
        return value

    @property
    def chain(self) -> tuple[str, ...]:
        """Who called whom, down to this agent."""
        return tuple(self.options["chain"])

    @property
    def parent_session_id(self) -> str | None:
        value: str | None = self.options["parent_session_id"]
        return value

    @property
    def cwd(self) -> str:
        return str(self.options["cwd"])

    def text(self, field: str) -> str | None:
        """A field of the payload, if it is text."""
        value = self._payload.get(field)
        return value if isinstance(value, str) else None

    def _in_session(self, session: str) -> RawAction:
        """What an engine judges whose own session this is."""
        known = self._judged
        if known is None or known[0] != session:
            try:
                known = (session, self._raw.in_session(session))
            except UnicodeError as error:
                raise ActionError(
                    "`session_id` is not Unicode text", "give text that can be written as UTF-8"
                ) from error
            self._judged = known
        return known[1]

    def replace(self, **options: Any) -> Action:
        """The same action with other options."""
        merged = {**self.options, "metadata": self.metadata, **options}
        return Action(self.kind, merged.pop("payload", self._payload), **merged)

    @classmethod
    def bash(cls, command: str, **options: Any) -> Action:
        return cls(ActionKind.BASH, {"command": command}, **options)

    @classmethod
    def read(cls, path: str | os.PathLike[str], **options: Any) -> Action:
        return cls(ActionKind.READ, {"path": os.fspath(path)}, **options)

    @classmethod
    def write(cls, path: str | os.PathLike[str], content: str | None = None, **options: Any) -> Action:
        payload = {"path": os.fspath(path)}
        if content is not None:
            payload["content"] = content
        return cls(ActionKind.WRITE, payload, **options)

    @classmethod
    def fetch(cls, url: str, **options: Any) -> Action:
        return cls(ActionKind.FETCH, {"url": url}, **options)

    @classmethod
    def task(cls, task_type: str, **payload: Any) -> Action:
        return cls(ActionKind.SUBMIT_TASK, payload, task_type=task_type)

    @classmethod
    def from_tool_call(
        cls,
        name: str,
        args: Mapping[str, Any] | None = None,
        *,
        kinds: Mapping[str, ActionKind | str] | None = None,
        **options: Any,
    ) -> Action:
        """An action from a framework's tool call. ``kinds`` says more about the program's own tools; a name that is
        not known, or has other arguments than its kind needs, is judged as a tool."""
        if not isinstance(name, str) or not isinstance(kinds, (Mapping, type(None))):
            raise ActionError("a tool has a name, and `kinds` is a mapping of names", 'for example `{"my_shell": "bash"}`')
        data = _plain(args)
        stated = (kinds or {}).get(name)
        kind, field = _TOOLS.get(name.lower(), (ActionKind.TOOL, ""))
        if (stated or kind) in (ActionKind.READ, ActionKind.WRITE) and isinstance(data.get("file_path"), str):
            # The other usual name of it. Two different paths are nothing that is known.
            if data.setdefault("path", data["file_path"]) != data["file_path"]:
                kind = ActionKind.TOOL
        if stated is not None:
            return cls(stated, data, tool=name, **options)
        if field and not isinstance(data.get(field), str):
            kind = ActionKind.TOOL
        return cls(kind, data, tool=name, **options)

    def to_dict(self) -> dict[str, Any]:
        """The form that ``lictor rpc`` and ``lictor serve`` take. Who started the session is told by ``delegate``."""
        filled = {key: value for key, value in self.options.items() if value and key != "parent_session_id"}
        return {"kind": str(getattr(self.kind, "value", self.kind)), "payload": dict(self._payload), **filled}

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Action:
        options = dict(data)
        unknown = sorted(map(str, options.keys() - _FIELDS))
        if "kind" not in options or unknown:
            said = f"`{unknown[0]}` is no field of an action" if unknown else "the action has no `kind`"
            raise ActionError(said, f"use {', '.join(sorted(_FIELDS))}")
        return cls(options.pop("kind"), options.pop("payload", None), **options)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Action) and self.digest == other.digest

    def __hash__(self) -> int:
        return hash(self.digest)

    def __reduce__(self) -> tuple[Any, ...]:
        return (_restored, (self.to_dict(), self.parent_session_id, dict(self.metadata)))

    def __repr__(self) -> str:
        return f"Action({self.kind!s}, {dict(self._payload)!r})"


def _restored(fields: Mapping[str, Any], parent: str | None, metadata: Mapping[str, object]) -> Action:
    return Action.from_dict(fields).replace(parent_session_id=parent, metadata=metadata)


def _named(is_wrong: Callable[[Any], bool], what: str, kind: Any, options: Mapping[str, Any]) -> str:
    """Which of them it is."""
    names = ", ".join(f"`{key}`" for key, value in {"kind": kind, **options}.items() if is_wrong(value))
    return f"{names} {what}" if names else ""


def _is_text(value: Any) -> bool:
    return value is None or all(isinstance(text, str) for text in (value if isinstance(value, list) else [value]))


def _is_unicode(value: Any) -> bool:
    texts = value if isinstance(value, list) else [value]
    try:
        return all(text.encode() is not None for text in texts if isinstance(text, str))
    except UnicodeError:
        return False


def not_an_action(given: object) -> ActionError:
    return ActionError(f"a `{type(given).__name__}` is not an action", 'give an `Action`, for example `Action.bash("make")`')


def _copied(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {key: _copied(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [_copied(item) for item in value]
    return value


def _plain(payload: Any) -> dict[str, Any]:
    """A copy that nobody else can change: mappings as they are, dataclasses and pydantic models by their fields."""
    if payload is None:
        return {}
    if isinstance(payload, Mapping):
        try:
            return {key: value if isinstance(value, str) else _copied(value) for key, value in payload.items()}
        except RecursionError:
            raise ActionError("the payload is nested too deeply", "give plain data without cycles") from None
    if hasattr(type(payload), "__dataclass_fields__"):
        import dataclasses

        return dataclasses.asdict(payload)
    dump: Any = getattr(payload, "model_dump", None)
    if callable(dump):
        fields: Any = dump(mode="json")
        return dict(fields)
    raise ActionError(f"a payload of type `{type(payload).__name__}` is not plain data", "give a mapping")
