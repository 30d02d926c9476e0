"""Tool policies, feedback and completion in any agent loop."""

import sys

import pytest

from lictor import Action, All, Outcome, PolicyEngine, SQLiteSessionStore
from lictor.completion import CommandChecker, CompositeChecker, FileOutputChecker, TaskCompletionResult
from lictor.feedback import (
    DeadlineFeedback,
    Feedback,
    FeedbackProviderConfig,
    FeedbackTrigger,
    Observation,
    StallFeedback,
    StaticFeedbackProvider,
)
from lictor.tools import PolicyDecision, ReadBeforeWritePolicy, SequentialDependencyPolicy


def passes(action):
    return True


def call(engine, tool, outcome=True, **args):
    action = Action.from_tool_call(tool, args)
    result = engine.evaluate(action)
    return result, engine.post_action(action, outcome).feedback_text if result.passed else ""


def test_a_tool_waits_for_what_it_depends_on(tmp_path):
    def engine():
        return PolicyEngine(
            passes, policies=[SequentialDependencyPolicy({"deploy": ["test", "lint"]})], facts="none",
            session_store=SQLiteSessionStore(tmp_path / "db"), default_session="s",
        )

    first = engine()
    refused, _ = call(first, "deploy")
    assert "`test`" in refused.reason and "`lint`" in refused.reason
    call(first, "test", Outcome(success=False, exit_code=1))
    call(first, "lint")
    assert "`lint`" not in call(first, "deploy")[0].reason
    # What was learnt belongs to the session, not to the process.
    second = engine()
    assert not call(second, "deploy")[0]
    call(second, "test")
    assert call(engine(), "deploy")[0]


def test_a_file_is_read_before_it_is_written(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "old.txt").write_text("x")
    engine = PolicyEngine(All(passes, ReadBeforeWritePolicy()), facts="none")
    assert call(engine, "write_file", path="new.txt")[0]
    assert not call(engine, "write_file", path="old.txt")[0]
    call(engine, "read_file", path="./old.txt")
    assert call(engine, "write_file", path="old.txt")[0]


def test_a_policy_in_python_hears_results_and_one_that_fails_changes_nothing(caplog):
    class Broken:
        name = "broken"

        def check(self, tool, params, *, context):
            if context.memory.get("seen", 0) >= 2:
                return PolicyDecision.deny("twice is enough", "stop")
            return PolicyDecision.allow()

        def on_result(self, tool, params, result, *, context):
            context.memory["seen"] = context.memory.get("seen", 0) + 1
            if params.get("fail"):
                raise RuntimeError("no")

    engine = PolicyEngine(Broken(), facts="none")
    call(engine, "a")
    call(engine, "a", fail=True)
    assert "failed to hear" in caplog.text
    call(engine, "a")
    refused, _ = call(engine, "a")
    assert "twice is enough" in refused.reason and refused.fix == "stop"


def test_guards_remember_too():
    class Counting:
        name = "counting"

        def check(self, action, ctx):
            ctx.memory["n"] = ctx.memory.get("n", 0) + 1
            assert ctx.memory["n"] >= 1
            return ctx.memory["n"] <= 2

    engine = PolicyEngine(Counting(), facts="none")
    assert [call(engine, "a")[0].passed for _ in range(3)] == [True, True, False]
    assert engine.evaluate(Action.bash("ls", session_id="other")).passed


def test_feedback_speaks_when_it_is_due(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)

    class Pacing:
        name = "pacing"

        def should_run(self, *, context):
            return context.tool_call_count >= 2

        def provide(self, *, context):
            [*_, last] = context.recent_tool_calls()
            seen = [Observation("pace", f"{context.tool_call_count} calls, the last was {last['tool']}")]
            return Feedback("pace", "slow down", seen, ["think first"], "caution")

    plan = FeedbackProviderConfig(StaticFeedbackProvider("follow the plan", name="plan"), FeedbackTrigger(on_file_created="PLAN.md"))
    engine = PolicyEngine(passes, feedback=[Pacing(), plan], facts="none")
    assert "slow down" not in call(engine, "a")[1]
    told = call(engine, "b")[1]
    assert "slow down" in told and "2 calls, the last was b" in told and "think first" in told
    assert "plan" not in told
    (tmp_path / "PLAN.md").write_text("1. do it")
    assert "follow the plan" in call(engine, "c")[1]
    assert "follow the plan" not in call(engine, "c")[1]


def test_failures_one_after_the_other_are_told():
    engine = PolicyEngine(passes, feedback=[StallFeedback(2)], facts="none")
    assert "stall" not in call(engine, "d", False)[1]
    assert "stall" in call(engine, "d", False)[1]


def test_a_deadline_is_told():
    engine = PolicyEngine(passes, feedback=[DeadlineFeedback(60, 120)], facts="none")
    assert "deadline" in call(engine, "a")[1]


def test_a_provider_that_fails_is_not_heard_and_harms_nobody():
    class Broken:
        name = "broken"

        def provide(self, *, context):
            raise RuntimeError("secret")

    told = call(PolicyEngine(passes, feedback=[Broken(), StaticFeedbackProvider("hello")], facts="none"), "a")[1]
    assert "hello" in told and "secret" not in told


def test_an_agent_goes_on_until_it_is_done(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    engine = PolicyEngine(passes, completion=FileOutputChecker(["report.md"]), facts="none")
    call(engine, "a")
    stopped = engine.check_stop(output="done")
    assert stopped.blocks and stopped.round == 1 and "report.md" in stopped.message
    (tmp_path / "report.md").write_text("all done")
    assert engine.check_stop().outcome == "complete"
    assert not PolicyEngine(passes, facts="none").check_stop().blocks


def test_the_gate_lets_go_and_a_prompt_begins_anew():
    class Never:
        def check(self, context):
            return TaskCompletionResult.incomplete(f"round {context.round}: {context.tentative_output}")

    engine = PolicyEngine(passes, completion=[Never()], facts="none")
    call(engine, "a")
    assert "round 1: done" in engine.check_stop(output="done").message
    outcomes = [engine.check_stop(output="done").outcome for _ in range(10)]
    assert outcomes[-1] == "released_unmet"
    engine.prompted(text="go on")
    assert engine.check_stop(output="done").blocks


@pytest.mark.parametrize(("code", "complete"), [(0, True), (3, False)])
def test_a_command_has_a_word(code, complete):
    checker = CommandChecker([sys.executable, "-c", f"print('hm'); raise SystemExit({code})"])
    engine = PolicyEngine(passes, completion=checker, facts="none")
    stopped = engine.check_stop()
    assert stopped.blocks is not complete and ("hm" in stopped.message) is not complete


def test_checks_combine_and_one_that_raises_is_not_met():
    class Raises:
        def check(self, context):
            raise RuntimeError("no answer")

    class Met:
        def check(self, context):
            return TaskCompletionResult.ok()

    assert not PolicyEngine(passes, completion=CompositeChecker([Met(), Met()]), facts="none").check_stop().blocks
    assert PolicyEngine(passes, completion=Raises(), facts="none").check_stop().blocks
    nothing = CompositeChecker([FileOutputChecker(["nowhere"]), Met()], all_must_pass=False)
    assert not PolicyEngine(passes, completion=nothing, facts="none").check_stop().blocks
