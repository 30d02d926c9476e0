"""``@dataclass(frozen=True)`` without the module ``dataclasses``, which loads ``inspect`` and compiles six functions for each class: a
third of the time that ``import lictor`` would take. Records are like other dataclasses otherwise."""

from __future__ import annotations

TYPE_CHECKING = False

if TYPE_CHECKING:
    from dataclasses import dataclass as dataclass
else:

    def dataclass(*, frozen, init=True):
        """Only for frozen classes, and without default factories."""
        assert frozen
        return lambda cls: _record(cls, init)

    def _record(cls, init):
        names = tuple(dict.fromkeys((*getattr(cls, "__match_args__", ()), *cls.__annotations__)))
        cls.__match_args__ = names
        if init:
            cls.__init__ = _init(cls, names)
        cls.__eq__, cls.__hash__, cls.__repr__ = _eq, _hash, _repr
        cls.__setattr__ = cls.__delattr__ = _refuse
        cls.__dataclass_fields__ = _Described("__dataclass_fields__")
        cls.__dataclass_params__ = _Described("__dataclass_params__")
        return cls

    def _init(cls, names):
        sets = "".join(f"\n    fields[{name!r}] = {name}" for name in names)
        then = "\n    self.__post_init__()" if hasattr(cls, "__post_init__") else ""
        made = {}
        exec(f"def __init__(self, {', '.join(names)}):\n    fields = self.__dict__{sets}{then}", made)
        made["__init__"].__defaults__ = tuple(getattr(cls, name) for name in names if hasattr(cls, name))
        return made["__init__"]

    def _eq(self, other):
        return self.__dict__ == other.__dict__ if type(other) is type(self) else NotImplemented

    def _hash(self):
        return hash(tuple(self.__dict__[name] for name in self.__match_args__))

    def _repr(self):
        fields = ", ".join(f"{name}={self.__dict__[name]!r}" for name in self.__match_args__)
        return f"{type(self).__qualname__}({fields})"

    def _refuse(self, name, value=None):
        from dataclasses import FrozenInstanceError

        raise FrozenInstanceError(f"cannot change `{name}` of a `{type(self).__name__}`")

    class _Described:
        """What ``dataclasses`` asks of a dataclass, made when somebody does."""

        def __init__(self, name):
            self._name = name

        def __get__(self, instance, cls):
            from dataclasses import field, make_dataclass

            fields = [
                (name, object, *([field(default=getattr(cls, name))] if hasattr(cls, name) else []))
                for name in cls.__match_args__
            ]
            return getattr(make_dataclass(cls.__name__, fields, frozen=True), self._name)
