"""Records are dataclasses to whoever asks."""

from __future__ import annotations

import copy
import dataclasses
import pickle

import pytest

from lictor import Answer, InMemorySessionStore, Outcome, StopResult, Verdict
from lictor._records import dataclass as record
from lictor.verdicts import GivenVerdict


def both(make):
    """The same class by our decorator and by the real one."""
    return make(record), make(dataclasses.dataclass)


def point(decorate):
    @decorate(frozen=True)
    class Point:
        x: int
        y: int = 2

    return Point


def checked(decorate):
    @decorate(frozen=True)
    class Checked:
        x: int

        def __post_init__(self):
            if self.x < 0:
                raise ValueError("negative")

    return Checked


def three(decorate):
    @decorate(frozen=True)
    class Three(point(decorate)):
        z: int = 3

    return Three


@pytest.mark.parametrize("make", [point, three])
def test_a_record_is_made_shown_and_compared_like_a_dataclass(make):
    for args, named in [((1,), {}), ((1, 5), {}), ((), {"x": 1}), ((), {"y": 1, "x": 0})]:
        ours, theirs = (cls(*args, **named) for cls in both(make))
        assert repr(ours) == repr(theirs)
        assert hash(ours) == hash(theirs)
        assert type(ours).__match_args__ == type(theirs).__match_args__
        assert ours == type(ours)(*args, **named) and ours != theirs and ours != type(ours)(9)
    for cls in both(make):
        for args, named in [((), {}), ((1, 2, 3, 4), {}), ((1,), {"no": 1}), ((1,), {"x": 1})]:
            with pytest.raises(TypeError):
                cls(*args, **named)


def test_a_record_cannot_be_changed():
    for cls in both(point):
        one = cls(1)
        with pytest.raises(dataclasses.FrozenInstanceError):
            one.x = 2
        with pytest.raises(dataclasses.FrozenInstanceError):
            del one.x
        assert one.x == 1


def test_what_a_record_checks_after_it_is_made_holds():
    for cls in both(checked):
        with pytest.raises(ValueError, match="negative"):
            cls(-1)


@pytest.mark.parametrize(
    "one",
    [
        Verdict.block("g", "r", "f", rule="x", evidence={"a": 1}),
        GivenVerdict("pass", "g", path="all/g", layer="INTENT"),
        Outcome(success=False, error="no"),
        Answer(True, "fine"),
        StopResult("incomplete", ("more",), 1),
        InMemorySessionStore(5),
    ],
)
def test_the_functions_for_dataclasses_take_records(one):
    assert dataclasses.is_dataclass(one)
    assert pickle.loads(pickle.dumps(one)) == one
    assert copy.copy(one) == one and copy.deepcopy(one) == one
    fields = dataclasses.asdict(one)
    assert list(fields) == [field.name for field in dataclasses.fields(one)] == list(type(one).__match_args__)
    assert dataclasses.replace(one) == one
    first = next(iter(fields))
    value = getattr(one, first)
    other = not value if isinstance(value, bool) else 7 if isinstance(value, int) else "other"
    assert getattr(dataclasses.replace(one, **{first: other}), first) == other


def test_a_programs_own_dataclass_may_be_a_record_with_more():
    @dataclasses.dataclass(frozen=True)
    class Signed(Answer):
        by: str = "nobody"

    assert Signed(True, "fine", "ada") == Signed(approved=True, reason="fine", by="ada")
    assert Signed(True).by == "nobody"
