"""The same graph of native guards and of guards in Python decides the same."""

import random
import re

from lictor import Action, All, Any, Escalate, Not, PolicyEngine, Threshold, Verdict, When, guard
from lictor.guards import BashSafetyGuard

PATTERNS = ["alpha", "beta", "gamma", "delta"]


def native(pattern, name):
    return BashSafetyGuard(blocked_patterns=[pattern], unreadable=None)


def twin(pattern, name):
    @guard(name)
    def check(action):
        command = action.text("command") or ""
        found = re.search(pattern, command)
        return Verdict.block(reason=f"Command matches blocked pattern: {pattern}", fix="x") if found else True

    return check


def tree(random, make, depth, names):
    """A random graph; the same numbers give the same one, whatever makes its leaves."""
    kind = random.choice(["leaf"] if depth == 0 else ["leaf", "all", "any", "not", "threshold", "escalate", "when"])
    if kind == "leaf":
        pattern = random.choice(PATTERNS)
        names.append(pattern)
        return make(pattern, f"leaf{len(names)}")
    children = [tree(random, make, depth - 1, names) for _ in range(random.randint(2, 3))]
    short = random.random() < 0.5
    if kind == "all":
        return All(*children, short_circuit=short)
    if kind == "any":
        return Any(*children)
    if kind == "not":
        return Not(children[0])
    if kind == "threshold":
        return Threshold(random.randint(1, len(children)), *children, short_circuit=short)
    if kind == "escalate":
        return Escalate(children[0], children[1])
    word = random.choice(PATTERNS)
    return When(lambda action, ctx: word in action.text("command"), children[0], children[1])


def test_twins_decide_alike():
    seen = set()
    for seed in range(150):
        engines = [
            PolicyEngine(All(tree(random.Random(seed), make, 3, [])), facts="none") for make in (native, twin)
        ]
        for words in range(1 << len(PATTERNS)):
            command = "echo " + " ".join(word for bit, word in enumerate(PATTERNS) if words >> bit & 1)
            one, other = (engine.evaluate(Action.bash(command)) for engine in engines)
            assert (one.decision, one.escalated) == (other.decision, other.escalated), (seed, command)
            seen.add(one.decision)
    assert {"pass", "block"} <= seen
