"""The originals' surfaces beyond verdikt's README, and what a program may set on an engine."""

import asyncio
import copy
import json
import pickle
import subprocess
import sys
from pathlib import Path

import pytest

from lictor import Action, All, Answer, Blocked, PolicyEngine, PolicyError, SQLiteSessionStore, StoreError, Verdict, When
from lictor.errors import LictorError
from lictor.feedback import Feedback, FeedbackTrigger, FileCreatedTrigger
from lictor.guards import BashSafetyGuard, BudgetGuard, FileBoundaryGuard, RateLimitGuard
from lictor.policies import Policy, PolicyAction, PolicyCallbackResult, PolicySet, policy_guard
from lictor.testing import FixedClock, RecordingApprover, ScriptedSession, assert_asks, assert_blocks, assert_passes

DELETE = [("delete", "file")]


def callback(passed, message=None):
    return lambda context: PolicyCallbackResult(passed, message)


# The table of requires_confirmation and callback, with nobody to ask, with a yes and with a no.
@pytest.mark.parametrize(
    ("confirmation", "found", "nobody", "yes", "no"),
    [
        (False, True, "pass", "pass", "pass"),
        (False, False, "block", "block", "block"),
        (True, True, "block", "pass", "block"),
        (True, None, "block", "pass", "block"),
    ],
)
def test_confirmation_and_callback_are_orthogonal(confirmation, found, nobody, yes, no):
    called = None if found is None else callback(found, "looked at")
    policies = PolicySet([Policy("p", "delete", "file", requires_confirmation=confirmation, callback=called)])
    assert policies.check_policy(DELETE).action == nobody
    assert policies.check_policy(DELETE, on_policy=lambda violations: [True] * len(violations)).action == yes
    assert policies.check_policy(DELETE, on_policy=lambda violations: False).action == no


def test_all_violations_are_surfaced_once_with_their_callback_results():
    seen = []
    policies = PolicySet(
        [
            Policy("one", "delete", "file", metadata={"owner": "ada"}),
            Policy("two", "delete", "*", callback=callback(True, "tracked")),
            Policy("many", "delete", "file", trigger_cardinality="multiple"),
        ]
    )

    def on_policy(violations):
        seen.append([(one.policy.name, one.callback_result) for one in violations])
        return [True, Answer(True, "fine")]

    result = policies.check_policy(DELETE, "single", on_policy=on_policy)
    assert result and result.action is PolicyAction.PASS and str(result).startswith("pass: one")
    assert seen == [[("one", None), ("two", PolicyCallbackResult(True, "tracked"))]]
    assert result.violations[0].policy.metadata == {"owner": "ada"}
    assert [one.answer for one in result.violations] == [Answer(True), Answer(True, "fine")]
    assert len(policies.evaluate(DELETE, "multiple").violations) == 3
    assert policies.evaluate(DELETE).decision == "ask"
    assert policies.check_policy([("read", "file")]).violations == []


@pytest.mark.parametrize("given", [[], [True, True], ["yes"], None, 1])
def test_whatever_is_no_answer_blocks(given):
    policies = PolicySet([Policy("p", "delete", "file")])
    assert not policies.check_policy(DELETE, on_policy=lambda violations: given)


def test_a_handler_or_callback_that_fails_blocks_and_an_interruption_is_raised_again():
    def fails(_):
        raise RuntimeError("no terminal")

    def impatient(_):
        raise KeyboardInterrupt

    policies = PolicySet([Policy("p", "delete", "file")])
    assert not policies.check_policy(DELETE, on_policy=fails)
    with pytest.raises(KeyboardInterrupt):
        policies.check_policy(DELETE, on_policy=impatient)
    broken = PolicySet([Policy("p", "delete", "file", requires_confirmation=False, callback=fails)])
    result = broken.check_policy(DELETE)
    assert not result and "no terminal" in result.violations[0].fault


def test_words_of_ones_own_and_words_that_nobody_knows():
    policies = PolicySet([Policy("p", "approve", "invoice")], verbs=["approve"], objects=["invoice"])
    assert policies.evaluate([("approve", "invoice")]).decision == "ask"
    [unknown] = policies.evaluate([("bless", "invoice")]).violations
    assert "catalogue" in unknown.message and unknown.policy.name == "ungrounded"
    with pytest.raises(PolicyError) as caught:
        PolicySet([Policy("p", "bless", "file"), Policy("", "delete")])
    assert len(caught.value.errors) == 2 and caught.value.fix and caught.value.kind == "not_in_catalogue"


def test_a_guarded_function_hands_its_arguments_to_callbacks():
    seen = []

    def look(context):
        seen.append((context.tool_name, context.call_args, context.call_kwargs, context.deed["verb"]))
        return context.call_args == ("a",)

    policies = PolicySet([Policy("p", "delete", "file", requires_confirmation=False, callback=look)])

    @policy_guard(policies, DELETE, "single")
    def remove(name, *, force=False):
        return f"removed {name}"

    assert remove("a") == "removed a"
    refused = remove("b", force=True)
    assert not refused and refused.action is PolicyAction.BLOCK
    assert seen == [("remove", ("a",), {}, "delete"), ("remove", ("b",), {"force": True}, "delete")]


def test_conditions_in_the_language_of_policy_files():
    engine = PolicyEngine(All(When('action.task_type == "deploy"', BudgetGuard(max_tasks=1)), BashSafetyGuard()))
    deploy = Action("submit_task", {}, task_type="deploy", session_id="s")
    assert engine.evaluate(deploy).passed and not engine.evaluate(deploy).passed
    assert engine.evaluate(Action("submit_task", {}, task_type="build", session_id="t")).passed
    with pytest.raises(PolicyError) as caught:
        PolicyEngine(When("acton.kind", BashSafetyGuard()))
    assert "acton" in caught.value.reason and caught.value.fix


def test_coroutines_are_awaited_on_the_callers_loop():
    loops = []

    async def remote(action, ctx):
        loops.append(asyncio.get_running_loop())
        await asyncio.sleep(0)
        ctx.add_risk(0.5)
        return action.text("command") != "deploy"

    async def is_bash(action, ctx):
        return action.kind == "bash"

    engine = PolicyEngine(When(is_bash, remote), facts="none")
    with pytest.raises(PolicyError, match="aevaluate"):
        engine.evaluate(Action.bash("ls"))
    assert engine.session().action_count == 0

    async def run():
        both = await asyncio.gather(engine.aevaluate(Action.bash("ls")), engine.aevaluate(Action.bash("deploy")))
        return [(result.passed, result.risk_score) for result in both], asyncio.get_running_loop()

    results, loop = asyncio.run(run())
    assert results == [(True, 0.5), (False, 0.5)] and set(loops) == {loop}


def test_coroutines_are_awaited_under_a_deadline_too():
    async def fine(action):
        return True

    async def hangs(action):
        await asyncio.sleep(3600)

    assert asyncio.run(PolicyEngine(fine, facts="none", deadline=30).aevaluate(Action.bash("ls"))).passed
    assert not asyncio.run(PolicyEngine(hangs, facts="none", deadline=0.05).aevaluate(Action.bash("ls"))).passed


def test_a_person_can_be_awaited():
    async def on_ask(result):
        await asyncio.sleep(0)
        return True

    engine = PolicyEngine(lambda action: Verdict.ask(reason="now?"), on_ask=on_ask, facts="none")
    with pytest.raises(PolicyError):
        engine.check(Action.bash("ls"))
    ran = []

    @engine.govern(lambda name: Action.bash(name))
    async def work(name):
        ran.append(name)

    asyncio.run(work("make"))
    assert ran == ["make"] and engine.session().success_count == 1
    policies = PolicySet([Policy("p", "delete", "file")])

    async def on_policy(violations):
        return [True]

    assert asyncio.run(policies.acheck_policy(DELETE, on_policy=on_policy))
    with pytest.raises(PolicyError):
        policies.check_policy(DELETE, on_policy=on_policy)


def test_sessions_begin_delegate_fork_and_end():
    engine = PolicyEngine(BashSafetyGuard(), facts="none")
    engine.begin("top")
    engine.delegate("top", "child", {"kinds": ["read"]})
    assert engine.evaluate(Action.read("a.txt", session_id="child", parent_session_id="top")).passed
    assert not engine.evaluate(Action.bash("ls", session_id="child", parent_session_id="top")).passed
    engine.evaluate(Action.bash("ls", session_id="top"))
    assert engine.fork("top", "copy").action_count == engine.session("top").action_count > 0
    engine.continued("top", "compact")
    assert engine.end("top").ended


def test_time_redaction_and_observation_are_settings():
    clock = FixedClock()
    engine = PolicyEngine(RateLimitGuard(max_per_minute=1), facts="none", clock=clock)
    assert_passes(engine, Action.bash("ls"))
    assert_blocks(engine, Action.bash("ls"))
    clock.advance(61)
    assert_passes(engine, Action.bash("ls"))

    never = PolicyEngine(lambda action: False, facts="none", observe_only=True)
    assert never.evaluate(Action.bash("ls")).passed
    with pytest.raises(LictorError):
        PolicyEngine(BashSafetyGuard(), redact=["("])


@pytest.mark.parametrize(("redact", "kept"), [(["PROJECT-[A-Z]+"], False), ([], True)])
def test_redacted_text_is_not_written_down(redact, kept):
    class Reader:
        name = "reader"
        read = ""

        def provide(self, *, context):
            Reader.read = str(context.recent_tool_calls())

    engine = PolicyEngine(BashSafetyGuard(), feedback=[Reader()], redact=redact)
    action = Action.bash("echo PROJECT-LICHEN")
    engine.evaluate(action)
    engine.post_action(action, True)
    assert "echo" in Reader.read and ("PROJECT-LICHEN" in Reader.read) is kept


def test_facts_can_be_left_out():
    seen = []
    for facts in ("project", "none"):
        PolicyEngine(lambda action, ctx: seen.append(ctx.facts), facts=facts).evaluate(Action.bash("cat a.txt"))
    assert seen[0]["effects"] and seen[1] == {}


def test_errors_have_a_reason_a_fix_and_a_kind(tmp_path):
    (tmp_path / "db").write_text("not a store")
    with pytest.raises(StoreError) as caught:
        PolicyEngine(BashSafetyGuard(), session_store=SQLiteSessionStore(tmp_path / "db"))
    assert caught.value.kind == "not_a_store" and caught.value.fix and "not a Lictor store" in caught.value.reason
    with pytest.raises(PolicyError) as caught:
        PolicyEngine(BashSafetyGuard(blocked_patterns=["(?<=a)b"]))
    assert "(?<=a)b" in str(caught.value) and "look-around" in caught.value.fix


def test_policy_files(repository, tmp_path):
    root = repository
    (root / "governance.yaml").write_text("{version: 1, budget: {max_actions: 1}}")
    first = PolicyEngine.from_file(root / "governance.yaml")
    assert first.evaluate(Action.bash("ls", session_id="s")).passed
    assert not PolicyEngine.from_project(root).evaluate(Action.bash("ls", session_id="s")).passed
    (root / "strict.yaml").write_text("{version: 1, budget: {max_actions: 1}}")
    store = SQLiteSessionStore(tmp_path / "db")
    other = PolicyEngine.from_file(root / "strict.yaml", session_store=store)
    call = Action.bash("ls", session_id="s", tool_use_id="c1")
    given = other.evaluate(call)
    again = PolicyEngine.from_file(root / "strict.yaml", session_store=store)
    assert given.passed and again.judged(call).id == given.id
    assert not again.evaluate(call.replace(tool_use_id="c2")).passed
    (root / "strict.yaml").write_text("{version: 1, bugdet: {}, boundries: {}}")
    with pytest.raises(PolicyError) as caught:
        PolicyEngine.from_file(root / "strict.yaml")
    assert len(caught.value.errors) >= 2 and caught.value.kind == "policy_refused" and caught.value.fix
    with pytest.raises(PolicyError):
        PolicyEngine.from_file(root / "missing/governance.yaml")


DIGEST = """
from lictor import PolicyEngine, All
from lictor.guards import BashSafetyGuard
from lictor.policies import Policy, PolicySet
def check(action):
    return action.kind in {"bash", "read", "write", "fetch", "tool"} and action.tool != "%s"
def callback(context):
    return True
print(PolicyEngine(All(check, PolicySet([Policy("p", "delete", callback=callback)]))).policy_digest)
"""


def test_the_same_policy_has_the_same_digest_in_every_process():
    def digest(word):
        ran = subprocess.run([sys.executable, "-c", DIGEST % word], capture_output=True, text=True, check=True)
        return ran.stdout

    assert digest("a") == digest("a") != digest("b")


def test_helpers_for_tests_and_small_values():
    approver = RecordingApprover(True)
    engine = PolicyEngine(lambda action: Verdict.ask(reason="now?"), on_ask=approver, facts="none")
    assert_asks(engine, Action.bash("ls"))
    assert engine.check(Action.bash("make")).passed and len(approver.asked) == 1
    with pytest.raises(AssertionError):
        assert_passes(engine, Action.bash("other"))
    session = ScriptedSession(PolicyEngine(BashSafetyGuard(blocked_prefixes=["sudo "])))
    assert session.run([("bash", {"command": "ls"}), ("bash", {"command": "sudo ls"})]) == ["pass", "block"]

    action = Action.bash("ls", user="ada", tenant="t", chain=["a", "b"], metadata={"n": 1})
    assert (action.user, action.tenant, action.chain) == ("ada", "t", ("a", "b"))
    assert pickle.loads(pickle.dumps(action)).metadata == {"n": 1}
    match action:
        case Action("bash", {"command": "ls"}):
            pass
        case _:
            pytest.fail("no match")
    engine = PolicyEngine(FileBoundaryGuard(red_line_files=["**/.env"]))
    assert not engine.evaluate(Action("write", {"file_path": ".env"})) and engine.evaluate(Action("write", {"file_path": "a"}))
    assert FeedbackTrigger(on_file_created=FileCreatedTrigger("PLAN.md")).to_dict()["on_file_created"] == "PLAN.md"
    rendered = Feedback(provider_name="Deadline", summary="slow", suggestions=["hurry"]).render()
    assert rendered == "<feedback provider='Deadline'>\nslow\n\n→ hurry\n</feedback>"


TOOL_CALLS = [json.loads(line) for line in Path(__file__).with_name("tool_calls.jsonl").read_text().splitlines()]


@pytest.mark.parametrize("case", TOOL_CALLS, ids=lambda case: json.dumps(case)[:60])
def test_tools_become_actions_by_name_and_form_of_their_arguments(case):
    action = Action.from_tool_call(case["name"], case["args"], kinds=case.get("kinds"))
    assert action.kind == case["kind"] and action.payload.get("path") == case.get("path", case["args"].get("path"))


def test_what_crosses_to_another_process():
    blocked = PolicyEngine(lambda action: Verdict.block(reason="no", fix="wait")).evaluate(Action.bash("ls"))
    error = pickle.loads(pickle.dumps(Blocked(blocked)))
    assert isinstance(error, Blocked) and (error.reason, error.fix, str(error)) == ("no", "wait", "no; wait")
    assert error.evaluation.decision == "block" and error.evaluation.action == blocked.action
    with pytest.raises(PolicyError) as refused:
        PolicySet([Policy("p", "bless", "file"), Policy("", "delete")])
    again = pickle.loads(pickle.dumps(refused.value))
    assert vars(again) == vars(refused.value) and str(again) == str(refused.value)
    policies = PolicySet([Policy("p", "approve", "invoice")], verbs=["approve"], objects=["invoice"], name="mine")
    same = pickle.loads(pickle.dumps(All(policies, BudgetGuard(max_actions=1)))).children()
    assert same[0].evaluate([("approve", "invoice")]).decision == "ask" and same[0].name == "mine"
    assert same[1] == BudgetGuard(max_actions=1) != BudgetGuard(max_actions=2)
    assert All(BudgetGuard(max_actions=1)) == All(BudgetGuard(max_actions=1)) != All(BashSafetyGuard())
    engine = PolicyEngine(BashSafetyGuard())
    assert copy.deepcopy({"engine": engine})["engine"] is engine is copy.copy(engine)
    assert copy.deepcopy(blocked) is blocked
    assert pickle.loads(pickle.dumps(engine.session())) == engine.session()
    with pytest.raises(TypeError, match="make one in each process"):
        pickle.dumps(engine)


def test_what_guards_a_coroutine_is_awaited():
    async def allow(violations):
        return [True] * len(violations)

    async def patient(action):
        return True

    policies = PolicySet([Policy("p", "delete", "file")])
    engine = PolicyEngine(All(policies, patient))
    for judge, what in ((policies, DELETE), (engine, lambda name: Action.bash(f"rm {name}"))):

        @policy_guard(judge, what, on_policy=allow)
        async def remove(name):
            return f"removed {name}"

        assert asyncio.run(remove("a")) == "removed a"
    assert engine.session().success_count == 1


@pytest.mark.parametrize("given", [None, 3, [True, True], ["yes"]])
def test_what_is_no_answer_blocks_an_engine_too(given):
    engine = PolicyEngine(All(PolicySet([Policy("p", "delete", "file")])))
    remove = policy_guard(engine, lambda: Action.bash("rm a"), on_policy=lambda violations: given)(lambda: pytest.fail("ran"))
    with pytest.raises(Blocked):
        remove()
    assert len(engine.approvals) == 0


def test_an_engine_guards_functions_too():
    policies = PolicySet([Policy("bulk", "delete", "file", trigger_cardinality="multiple")])
    engine = PolicyEngine(All(policies))
    answers = iter([[True], False])
    remove = policy_guard(
        engine, lambda *names: Action.bash(f"rm {' '.join(names)}"), on_policy=lambda violations: next(answers)
    )(lambda *names: names)
    assert remove("a", "b") == ("a", "b") and engine.session().success_count == 1
    with pytest.raises(Blocked):
        remove("c", "d")
    with pytest.raises(PolicyError):
        policy_guard(engine, DELETE)(lambda: None)()
