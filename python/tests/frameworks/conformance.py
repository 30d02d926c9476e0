"""What every adapter has to do, run against the real framework by a driver that each test file defines.

A driver has ``run(engine, *turns, answer=None)``: the scripted model makes those turns (a list of commands is one turn of parallel
calls of the tool ``bash``, text is its answer), and every question is answered with ``answer``. It returns a ``Seen``.
"""

import ast
import asyncio
import os
import re
import threading
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from lictor import All, PolicyEngine, Project, Verdict, guard
from lictor.guards import BudgetGuard

SESSION = "s1"


@dataclass
class Seen:
    """What the model read and what a person was asked."""

    told: dict = field(default_factory=dict)
    """Results by call id: ``c0``, ``c1``, … over all turns."""
    prompts: list = field(default_factory=list)
    """What the model was sent besides: the reasons of the stop gate."""
    asked: list = field(default_factory=list)


class Tool:
    """The tool of all scripted agents, and what ran of it."""

    def __init__(self):
        self.ran = []
        self._lock = threading.Lock()

    def __call__(self, command):
        with self._lock:
            self.ran.append(command)
        if command == "fail":
            raise ValueError("exit 1")
        if command == "report":
            with open("report.md", "w") as file:
                file.write("all done")
        return f"ran {command}"


TOOL = Tool()


def policy(*more):
    evaluated = []

    @guard("careful")
    def careful(action):
        command = action.text("command") or ""
        evaluated.append(command)
        if command.startswith("rm"):
            return Verdict.block(reason="it deletes", fix="move it to the bin")
        if command.startswith("deploy"):
            # Only the first judgement asks: a replay must not be judged again.
            return Verdict.ask(reason="deploy now?") if evaluated.count(command) == 1 else Verdict.block(reason="twice")
        if command.startswith("broken"):
            raise RuntimeError("a guard that fails")
        return Verdict.pass_()

    engine = PolicyEngine(All(careful, *more), facts="none", default_session=SESSION)
    engine.evaluated = evaluated
    return engine


class FailingEngine:
    """An engine that cannot even be asked."""

    default_session = SESSION

    def evaluate(self, action):
        raise RuntimeError("the disk is on fire")

    async def aevaluate(self, action):
        self.evaluate(action)

    def resolve(self, *_):
        raise RuntimeError("the disk is on fire")

    post_action = check_stop = resolve


class Conformance:
    """Inherited by each framework's test class, which has ``run``. ``stops``: whether the framework has a place for the stop
    gate. ``asks``: whether it can ask a person. ``knows_ids``: whether its hooks are told call ids."""

    stops = True
    asks = True
    tells_alike_apart = True
    """Whether two calls of one turn with the same arguments are two questions, and the driver answers both."""
    hears_no = True
    """Whether a no comes back to the adapter."""
    awaits = True
    """Whether its hooks are coroutines, so that guards may be too."""
    fails_to = "result"
    """``result`` when the model reads of a failed tool, ``raise`` when the run fails."""

    @pytest.fixture(autouse=True)
    def clean(self, tmp_path, monkeypatch):
        TOOL.ran.clear()
        monkeypatch.chdir(tmp_path)

    def test_a_block_is_told_and_does_not_run(self):
        engine = policy()
        seen = self.run(engine, ["ls", "rm x", "broken"], "done")
        assert TOOL.ran == ["ls"] and "ran ls" in seen.told["c0"]
        assert "it deletes" in seen.told["c1"] and "the bin" in seen.told["c1"]
        assert "Blocked by Lictor" in seen.told["c2"] and "a guard that fails" not in seen.told["c2"]
        session = engine.session()
        assert (session.success_count, session.block_count) == (1, 2)

    @pytest.mark.parametrize("approved", [True, False])
    def test_a_question_is_asked_once_and_the_answer_counts(self, approved):
        if not self.asks:
            pytest.skip("the framework cannot ask")
        engine = policy()
        seen = self.run(engine, ["deploy"], "done", answer=approved)
        assert len(seen.asked) == 1 and "deploy now?" in seen.asked[0]
        assert TOOL.ran == (["deploy"] if approved else [])
        assert ("ran deploy" in seen.told.get("c0", "")) is approved
        # The call is entered again after the answer, and keeps the decision that it got.
        assert engine.evaluated == ["deploy"] and engine.session().action_count == 1
        assert len(engine.approvals) == 0 or not self.hears_no

    def test_two_calls_alike_get_two_answers(self):
        if not self.asks or not self.tells_alike_apart:
            pytest.skip("the framework cannot ask twice")
        engine = PolicyEngine(lambda action: Verdict.ask(reason="deploy now?"), facts="none", default_session=SESSION)
        seen = self.run(engine, ["deploy", "deploy"], "done", answer=True)
        assert len(seen.asked) == 2 and TOOL.ran == ["deploy", "deploy"] and len(engine.approvals) == 0

    def test_a_failure_of_the_tool_is_recorded(self):
        engine = policy()
        if self.fails_to == "raise":
            with pytest.raises(Exception):
                self.run(engine, ["fail"], "done")
        else:
            self.run(engine, ["fail"], "done")
        assert (engine.session().failure_count, engine.session().success_count) == (1, 0)

    def test_nothing_runs_when_the_policy_cannot_be_asked(self):
        seen = self.run(FailingEngine(), ["ls", "deploy"], "done")
        assert TOOL.ran == []
        assert all("Blocked by Lictor" in seen.told[call] and "on fire" not in seen.told[call] for call in ("c0", "c1"))

    def test_a_guard_may_be_a_coroutine(self):
        if not self.awaits:
            pytest.skip("the framework calls hooks, and does not await them")

        async def remote(action):
            await asyncio.sleep(0)
            return not action.text("command").startswith("rm")

        seen = self.run(PolicyEngine(remote, facts="none", default_session=SESSION), ["ls", "rm x"], "done")
        assert TOOL.ran == ["ls"] and "Blocked by Lictor" in seen.told["c1"]

    def test_an_interruption_is_not_swallowed(self):
        def impatient(action):
            raise KeyboardInterrupt

        with pytest.raises(KeyboardInterrupt):
            self.run(PolicyEngine(impatient, facts="none", default_session=SESSION), ["ls"], "done")
        assert TOOL.ran == []

    def test_parallel_calls_are_counted_exactly(self):
        engine = policy(BudgetGuard(max_actions=5))
        seen = self.run(engine, [f"echo {n}" for n in range(8)], "done")
        assert len(TOOL.ran) == 5 and len(seen.told) == 8
        assert engine.session().success_count == 5

    def test_feedback_is_appended_to_the_result(self):
        project = Project.from_yaml('{version: 1, feedback: [{name: hint, every_n_calls: 1, say: "keep it small"}]}')
        told = self.run(project, ["ls"], "done").told["c0"]
        assert "ran ls" in told and "keep it small" in told

    def test_the_quickstart_is_short_and_names_what_is_there(self):
        name = type(self).__module__.removeprefix("test_")
        page = (Path(__file__).parents[3] / "docs/python.md").read_text()
        [sample] = re.findall(rf"^```python {name}\n(.*?)^```", page, re.S | re.M)
        lines = sample.splitlines()
        assert len(lines) <= 15
        compile(sample, "docs/python.md", "exec", ast.PyCF_ALLOW_TOP_LEVEL_AWAIT)
        exec("\n".join(line for line in lines if line.startswith(("from ", "import "))), {})

    def test_an_agent_that_is_not_done_goes_on(self):
        if not self.stops:
            pytest.skip("the framework has no place for it")
        project = Project.from_yaml("{version: 1, completion: {files: [report.md]}}", os.getcwd())
        seen = self.run(project, ["ls"], "done", ["report"], "done now")
        assert TOOL.ran == ["ls", "report"]
        assert any("report.md" in prompt for prompt in seen.prompts)
