"""The original's README: its samples as they stand there, with only the import lines changed, and what they mean."""

import re
from pathlib import Path

import pytest

from lictor import (
    Action,
    ActionKind,
    All,
    BaseGuard,
    CollectingTracer,
    Escalate,
    GovernanceContext,
    InMemorySessionStore,
    Outcome,
    PolicyEngine,
    SQLiteSessionStore,
    StdoutTracer,
    Verdict,
    When,
)
from lictor.guards import BashSafetyGuard, BudgetGuard, FileBoundaryGuard
from lictor.layers import GovernanceLayer


SAMPLES = re.findall(r"^```python\n(.*?)^```", Path(__file__).with_name("verdikt_readme.md").read_text(), re.S | re.M)


def ported(sample):
    """The sample with the package's name replaced, on import lines only."""
    lines = [line.replace("verdikt", "lictor") if "import" in line else line for line in sample.splitlines()]
    assert "verdikt" not in "\n".join(lines)
    return lines


def test_the_samples_print_what_they_say(capsys):
    names = {"action": Action(ActionKind.BASH, {"command": "ls"})}
    promised = 0
    for sample in SAMPLES:
        lines = ported(sample)
        if any(line.strip().startswith("return") and not line.startswith("     ") for line in lines):
            # The last one is the body of an agent's loop.
            lines = ["def step(action):", *(f"    {line}" for line in lines), "    return None"]
        exec(compile("\n".join(lines), "README", "exec"), names)
        printed = capsys.readouterr().out.splitlines()
        said = [line.split("  # ", 1)[1] for line in lines if line.startswith("print(")]
        assert len(printed) == len(said), sample
        for line, promise in zip(printed, said, strict=True):
            promised += 1
            if promise.startswith("["):
                # The shape: one action, and entries of its trace.
                assert re.fullmatch(r"\[\(Action\(.*\), \[TraceEntry\(.*\)\]\)\]", line), line
            else:
                assert line == promise.strip('"')
    assert (len(SAMPLES), promised) == (7, 4)
    assert names["step"](Action(ActionKind.BASH, {"command": "ls"})) is None
    assert "rm" in names["step"](Action(ActionKind.BASH, {"command": "rm -rf /"}))
    limited = PolicyEngine(All(names["RateLimitGuard"](1), names["MyGuard"]()))
    assert [limited.evaluate(names["action"]).passed for _ in range(2)] == [True, False]


def test_quick_start():
    engine = PolicyEngine(All(FileBoundaryGuard(), BashSafetyGuard(), short_circuit=True))
    result = engine.evaluate(Action(kind=ActionKind.BASH, payload={"command": "rm -rf /"}))
    assert result.passed is False
    assert result.reason == r"Command matches blocked pattern: rm\s+-rf\s+/"


def test_conditional_policy():
    engine = PolicyEngine(
        All(
            BashSafetyGuard(),
            When(
                condition=lambda a, ctx: a.kind == ActionKind.BASH,
                then=All(FileBoundaryGuard(), BashSafetyGuard(), name="strict"),
                otherwise=FileBoundaryGuard(),
            ),
        )
    )
    assert engine.evaluate(Action(kind=ActionKind.BASH, payload={"command": "ls"})).passed
    assert engine.evaluate(Action(kind=ActionKind.READ, payload={"path": "src/a.py"})).passed
    assert not engine.evaluate(Action(kind=ActionKind.BASH, payload={"command": "rm -rf /"})).passed


@pytest.mark.parametrize("store", ["memory", "sqlite"])
def test_sessions(store, tmp_path):
    session_store = InMemorySessionStore() if store == "memory" else SQLiteSessionStore(tmp_path / "s.db")
    engine = PolicyEngine(All(BashSafetyGuard()), session_store=session_store)
    action = Action(kind=ActionKind.BASH, session_id="s1", payload={"command": "ls"})
    assert engine.evaluate(action).context.session.action_count == 1
    assert engine.evaluate(Action.bash("pwd", session_id="s1")).context.session.action_count == 2


def test_tracing(capsys):
    action = Action.bash("ls")
    PolicyEngine(All(BashSafetyGuard()), tracer=StdoutTracer()).evaluate(action)
    printed = capsys.readouterr()
    assert printed.out == "" and "bash_safety: pass" in printed.err
    tracer = CollectingTracer()
    PolicyEngine(All(BashSafetyGuard()), tracer=tracer).evaluate(action)
    [(seen, entries)] = tracer.traces
    assert seen is action
    assert [entry.name for entry in entries] == ["bash_safety", "all"]


class RateLimitGuard(BaseGuard):
    governance_layer = GovernanceLayer.RESOURCE

    def __init__(self, max_per_minute: int):
        self._calls = []
        self._max = max_per_minute

    @property
    def name(self) -> str:
        return "rate_limit"

    def check(self, action: Action, ctx: GovernanceContext) -> Verdict:
        import time

        now = time.time()
        self._calls = [t for t in self._calls if now - t < 60]
        self._calls.append(now)
        if len(self._calls) > self._max:
            ctx.add_risk(0.3)
            return Verdict.block(
                guard=self.name, reason="Rate limited", fix=f"Max {self._max} calls/min. Wait and retry."
            )
        return Verdict.pass_(guard=self.name)


class MyGuard:
    @property
    def name(self) -> str:
        return "my_guard"

    def check(self, action):
        return Verdict.pass_(guard=self.name)


def test_custom_guards():
    engine = PolicyEngine(All(RateLimitGuard(2), MyGuard()))
    assert engine.evaluate(Action.bash("ls")) and engine.evaluate(Action.bash("ls"))
    third = engine.evaluate(Action.bash("ls"))
    assert (third.reason, third.fix) == ("Rate limited", "Max 2 calls/min. Wait and retry.")
    assert third.risk_score == pytest.approx(0.3)


def test_the_headline_tree():
    class DeployChecklist:
        name = "deploy_checklist"

        def check(self, action):
            return "ticket" in action.payload or Verdict.block(reason="a deploy needs a ticket", fix="add payload.ticket")

    class AutoApprove:
        name = "auto_approve"

        def __init__(self, max_risk):
            self.max_risk = max_risk

        def check(self, action, ctx):
            return ctx.risk_score <= self.max_risk

    class DefaultIntent:
        name = "default_intent"

        def check(self, action):
            return True

    engine = PolicyEngine(
        All(
            All(FileBoundaryGuard(), BashSafetyGuard(), short_circuit=True),
            BudgetGuard(max_tasks=100),
            When(
                condition=lambda a, ctx: a.task_type == "deploy",
                then=Escalate(DeployChecklist(), AutoApprove(max_risk=0.3)),
                otherwise=DefaultIntent(),
            ),
        )
    )
    assert engine.evaluate(Action.task("report")).decision == "pass"
    assert engine.evaluate(Action.task("deploy", ticket="OPS-1")).decision == "pass"
    overridden = engine.evaluate(Action.task("deploy"))
    assert overridden.decision == "warn" and overridden.escalated


def test_two_cut_points():
    engine = PolicyEngine(All(BashSafetyGuard()))
    action = Action.bash("make")
    assert engine.evaluate(action).passed
    assert engine.post_action(action, Outcome(success=True)).standing == "governed"
    assert engine.session().success_count == 1
