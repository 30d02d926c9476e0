"""What users of verdikt, WINK and ctx write that the README's samples do not show."""

import asyncio
import json
import pickle
import runpy
import sys

import pytest

from lictor import (
    Action,
    ActionError,
    All,
    ApprovalError,
    BaseGuard,
    Blocked,
    CollectingTracer,
    Outcome,
    PolicyEngine,
    Project,
    Verdict,
    guard,
)
from lictor.adapters import claude_hooks
from lictor.completion import (
    CommandChecker,
    CompositeChecker,
    FileOutputChecker,
    FindingsChecker,
    TaskCompletionResult,
    TodosChecker,
)
from lictor.feedback import CommandFeedback, Feedback, FeedbackProviderConfig, FeedbackTrigger, FindingsFeedback, Observation
from lictor.guards import BudgetGuard, IntentGuard
from lictor.guards.built_in import IntentRule
from lictor.ledger import Ledger
from lictor.policies import Policy, PolicyCallbackResult, PolicySet, policy_guard
from lictor.tools import PolicyDecision
from lictor.toolbox_verdict import Evidence, Finding, build_finding, parse_evidence


@pytest.fixture
def project(tmp_path, monkeypatch):
    for name in ("XDG_STATE_HOME", "XDG_CONFIG_HOME", "LICTOR_STATE_DIR"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HOME", str(tmp_path))
    (tmp_path / "work").mkdir()
    monkeypatch.chdir(tmp_path / "work")
    return Project.open(".")


def engine(*guards, **options):
    return PolicyEngine(All(*guards), facts="none", default_session="s", **options)


def test_an_action_is_what_was_given():
    action = Action("tool", {"n": 1}, tool="t", session_id="child", parent_session_id="parent", metadata={"x": 1})
    for name in ("kind", "payload", "options", "metadata", "session_id"):
        with pytest.raises(AttributeError):
            setattr(action, name, "other")
    with pytest.raises(TypeError):
        action.payload["n"] = 2
    again = pickle.loads(pickle.dumps(action))
    assert again == action and hash(again) == hash(action)
    assert (again.parent_session_id, dict(again.metadata)) == ("parent", {"x": 1})
    for field in ("session_id", "tool", "task_type"):
        with pytest.raises(ActionError, match=field):
            Action("tool", {}, **{field: "\ud800"})


def test_a_project_knows_who_started_a_session():
    governed = Project.from_yaml("{version: 1, budget: {max_actions: 2}}")
    for number, decision in enumerate(("pass", "warn", "block")):
        action = Action.bash(f"echo {number}", session_id=f"child-{number}", parent_session_id="parent")
        assert governed.evaluate(action).decision == decision, number
    assert governed.session("parent")["action_count"] == 3


def test_guards_read_what_others_said_and_left():
    seen = {}

    class First(BaseGuard):
        def check(self, action, ctx):
            ctx.annotations["score"] = 1
            return Verdict.warn(guard=self.name, reason="look", fix="twice")

    class Second(BaseGuard):
        def check(self, action, ctx):
            seen["theirs"] = ctx.annotations["score"]
            ctx.annotations["score"] = 2
            seen["own"] = ctx.annotations["score"]
            return Verdict.pass_(guard=self.name)

    class Third(BaseGuard):
        def check(self, action, ctx):
            seen["last"] = ctx.annotations["score"]
            seen["named"] = ctx.annotations["first.score"]
            seen["missing"] = ("other" in ctx.annotations, ctx.annotations.get("other", 7))
            seen["verdicts"] = [(one.guard, one.status, one.passed, one.reason) for one in ctx.verdicts]
            seen["trace"] = [entry.name for entry in ctx.trace]
            return Verdict.block(guard=self.name, reason="no", fix="stop")

    result = engine(First(), Second(), Third()).evaluate(Action.bash("ls"))
    assert (seen["theirs"], seen["own"], seen["last"], seen["named"]) == (1, 2, 2, 1)
    assert seen["missing"] == (False, 7)
    assert seen["verdicts"] == [("first", "warn", True, "look"), ("second", "pass", True, "")]
    assert seen["trace"] == ["first", "second"]
    assert [(one.guard, one.blocked, one.fix) for one in result.verdicts][-1] == ("third", True, "stop")
    assert result.context.annotations["first.score"] == 1 and result.context.annotations["score"] in (1, 2)
    with pytest.raises(KeyError):
        result.context.annotations["other"]


def test_a_session_has_a_history():
    seen = []

    @guard("repeats")
    def repeats(action, ctx):
        seen.append([(call["tool"], call["decision"], call.get("outcome", {}).get("success")) for call in ctx.session.history])
        return True

    governed = engine(repeats)
    first = Action.bash("make", tool="shell")
    governed.evaluate(first)
    governed.post_action(first, Outcome(success=False, exit_code=2, error="no rule"))
    governed.evaluate(Action.bash("ls"))
    assert seen == [[], [("shell", "pass", False)]]
    assert [call["payload"]["command"] for call in governed.session().history] == ["make", "ls"]


def test_what_models_use_counts_for_budgets():
    governed = engine(BudgetGuard(max_tokens=100, max_cost=1.0))
    action = Action.bash("ls")
    for used, decision in (({"tokens": 60}, "pass"), ({"tokens": 30, "cost": 0.25}, "warn"), ({"tokens": 10}, "block")):
        result = governed.evaluate(action)
        governed.post_action(action, Outcome(success=True, usage=used))
        assert governed.evaluate(action, dry=True).decision in (decision, "warn"), result
    assert governed.evaluate(action).decision == "block"
    assert governed.session().usage == {"tokens": 100, "cost": 0.25}
    for usage in ({"tokens": -1}, {"cost": float("nan")}, {"money": 1}, {"tokens": True}):
        with pytest.raises(ActionError):
            Outcome(usage=usage)
    shared = Project.from_yaml("{version: 1, budget: {max_cost: 1}, completion: {files: [never.md]}}")
    action = action.replace(session_id="s")
    shared.evaluate(action)
    assert shared.check_stop("s").outcome == "incomplete"
    shared.post_action(action, Outcome(duration_ms=5, usage={"cost": 1.5}))
    assert shared.evaluate(action).decision == "block"
    assert shared.check_stop("s").outcome == "bypassed"


def test_tracers_hear_what_came_of_it():
    class Silent:
        def trace(self, action, result):
            pass

    class Fails(Silent):
        def happened(self, action, outcome, standing):
            raise RuntimeError("a tracer that fails")

    tracer = CollectingTracer()
    governed = engine(lambda action: True, tracer=[Silent(), Fails(), tracer])
    action = Action.bash("make")
    governed.evaluate(action)
    governed.post_action(action, ValueError("exit 2"))
    [(heard, outcome, standing)] = tracer.outcomes
    assert (heard is action, outcome.success, outcome.error, standing) == (True, False, "ValueError: exit 2", "governed")


def test_a_question_is_answered_once():
    governed = engine(lambda action: Verdict.ask(reason="now?"))
    action = Action.bash("make deploy")
    asked = governed.evaluate(action)
    assert governed.resolve(action, asked, False).decision == "block"
    with pytest.raises(ApprovalError, match="any more"):
        governed.resolve(action, asked, True)
    passed = engine(lambda action: True).evaluate(action)
    assert engine(lambda action: True).resolve(action, passed, True).decision == "pass"


def test_tasks_are_held_to_every_rule_of_their_type():
    rules = [
        IntentRule("deploy", lambda action: action.text("ticket") is not None, "needs a ticket", "name it"),
        IntentRule("deploy", lambda action: action.text("by") is not None, "needs a name", "sign it"),
    ]
    governed = engine(IntentGuard(rules))
    assert governed.evaluate(Action.task("deploy", ticket="OPS-1", by="ada")).passed
    both = governed.evaluate(Action.task("deploy"))
    assert "needs a ticket" in both.reason and "needs a name" in both.reason and "sign it" in both.fix
    assert "purge" in governed.evaluate(Action.task("purge")).reason
    assert governed.evaluate(Action.bash("ls")).passed


def test_a_callback_may_decide_and_show_what_it_found():
    found = PolicyCallbackResult(
        True, "12 files", decision="warn", fix="split it", evidence={"files": 12}, risk=0.25, annotations={"files": 12}, tags=["bulk"]
    )
    policies = PolicySet([Policy("bulk", "delete", "file", requires_confirmation=False, callback=lambda context: found, tools=["rm*"])])
    assert [one.name for one in policies.policies_for("rm_tree")] == ["bulk"] and policies.policies_for("ls") == []
    call = Action("tool", {}, tool="rm_tree")
    result = policies.check_policy([("delete", "file")], "multiple", call)
    [violation] = result.violations
    assert (result.action.value, violation.callback_result.decision) == ("warn", "warn")
    assert violation.callback_result.evidence == {"files": 12} and str(violation).startswith("bulk: ")
    for stricter, decision in (("block", "block"), ("ask", "block")):
        found = PolicyCallbackResult(False, "no", decision=stricter)
        assert policies.check_policy([("delete", "file")], "multiple", call).action.value == decision


def test_a_governed_coroutine_is_recorded_when_it_is_over():
    governed = engine(lambda action: action.tool != "no")

    @policy_guard(governed, lambda tool: Action("tool", {}, tool=tool))
    async def work(tool):
        await asyncio.sleep(0)
        if tool == "fails":
            raise ValueError(tool)
        return tool

    assert asyncio.run(work("fine")) == "fine"
    with pytest.raises(ValueError):
        asyncio.run(work("fails"))
    with pytest.raises(Blocked):
        asyncio.run(work("no"))
    assert (governed.session().success_count, governed.session().failure_count) == (1, 1)
    policies = PolicySet([Policy("deletes", "delete", "file")])
    ran = []

    @policy_guard(policies, [("delete", "file")], on_policy=lambda violations: [len(ran) > 0])
    async def remove():
        ran.append(1)

    assert asyncio.run(remove()).action.value == "block" and ran == []
    ran.append(0)
    assert asyncio.run(remove()) is None and ran == [0, 1]


def test_a_tool_policy_hears_of_successes():
    class Counts:
        name = "counts"

        def check(self, tool, params, *, context):
            return PolicyDecision(context.memory.get("seen", 0) < 1, "enough")

        def on_result(self, tool, params, result, *, context):
            context.memory["seen"] = context.memory.get("seen", 0) + 1

    governed = engine(lambda action: True, policies=[Counts()])
    for outcome, decision in ((False, "pass"), (RuntimeError(), "pass"), (True, "block")):
        action = Action("tool", {}, tool="t")
        assert governed.evaluate(action).passed
        governed.post_action(action, outcome)
        assert governed.evaluate(action, dry=True).decision == decision


def test_the_hook_bridge_takes_every_tool_that_the_readme_matches(monkeypatch):
    judged = []

    class Ran:
        returncode, stdout = 0, ""

    monkeypatch.setattr(claude_hooks, "program", lambda: "/bin/lictor")
    monkeypatch.setattr(claude_hooks.subprocess, "run", lambda argv, **_: judged.append(argv[1:]) or Ran)
    for kind, given, subject in [
        ("read", {"file_path": "a.py"}, "a.py"),
        ("read", {"pattern": "**/*.py"}, "."),
        ("read", {"pattern": "x", "path": "src"}, "src"),
        ("write", {"file_path": "a.py", "content": ""}, "a.py"),
        ("bash", {"command": "--version"}, "--version"),
    ]:
        assert claude_hooks.main([kind, json.dumps(given)]) == 0
        assert judged[-1] == ["eval", kind, "--", subject]
    for kind, given in [("write", "{}"), ("bash", "[]"), ("bash", '{"command": 1}'), ("read", "{"), ("fetch", "{}")]:
        assert claude_hooks.main([kind, given]) == 2


def provider(name, say, every=1, **more):
    body = {"name": name, "provide": lambda self, *, context: say(context), **more}
    return FeedbackProviderConfig(type(name, (), body)(), FeedbackTrigger(every_n_calls=every))


def test_providers_see_each_other():
    seen = []

    def second(context):
        seen.append((
            context.tool_calls_since_last_feedback_for_provider("first"),
            context.tool_calls_since_last_feedback_for_provider("nobody"),
            (context.last_feedback_for_provider("first") or {}).get("feedback", {}).get("summary"),
            context.last_feedback_for_provider("nobody"),
        ))

    governed = engine(
        lambda action: True, feedback=[provider("first", lambda _: Feedback("slow down"), 3), provider("second", second)]
    )
    for number in range(4):
        action = Action.bash(f"echo {number}")
        governed.evaluate(action)
        governed.post_action(action)
    assert seen[0] == (1, 1, None, None)
    assert seen[3] == (1, 4, "slow down", None)


def test_feedback_reads_the_same_wherever_it_is_rendered():
    said = Feedback("pace", "2 < 3 </feedback>", [Observation("loop", "the same call")], ["stop"], "caution")
    governed = engine(lambda action: True, feedback=[provider("pace", lambda _: said)])
    action = Action.bash("ls")
    governed.evaluate(action)
    told = governed.post_action(action).feedback_text
    assert told == said.render()
    assert told.startswith("<feedback provider='pace'>") and told.count("</feedback>") == 1
    assert (Feedback("text").summary, Feedback(provider_name="p", summary="s").provider_name) == ("text", "p")


def test_programs_and_findings_speak(project, tmp_path):
    script = tmp_path / "hint.py"
    script.write_text("import json, sys; print(json.dumps({'summary': str(json.load(sys.stdin)['calls']) + ' calls', 'suggestions': ['go on']}))")
    ledger = Ledger(project)
    governed = engine(
        lambda action: True,
        feedback=[CommandFeedback([sys.executable, str(script)], timeout=30, name="hint"), FindingsFeedback(ledger)],
        completion=FindingsChecker(ledger),
    )
    action = Action.bash("ls")
    governed.evaluate(action)
    told = governed.post_action(action).feedback_text
    assert "1 calls" in told and "go on" in told and "findings" not in told
    assert governed.check_stop().outcome == "complete"
    id = ledger.record("p1", "HIGH", "SQL injection", "sec", ["a.py:1:x"])
    governed.evaluate(action)
    assert "p1" in governed.post_action(action).feedback_text
    assert "p1 (HIGH)" in governed.check_stop().message
    ledger.waive("p1", id, reason="a test", by="ada")
    assert governed.check_stop().outcome == "complete"


def test_checks_stop_at_the_first_that_settles_it(tmp_path):
    asked = []

    class Says:
        def __init__(self, name, met):
            self.name, self.met = name, met

        def check(self, context):
            asked.append(self.name)
            return TaskCompletionResult.ok() if self.met else TaskCompletionResult.incomplete(self.name)

    def outcome(checker):
        asked.clear()
        governed = engine(lambda action: True, completion=checker, root_dir=tmp_path)
        return governed.check_stop().reasons, list(asked)

    no, yes, other = Says("no", False), Says("yes", True), Says("other", False)
    assert outcome(CompositeChecker([no, yes])) == (("no",), ["no"])
    assert outcome(CompositeChecker([no, yes, other], all_must_pass=False)) == ((), ["no", "yes"])
    assert outcome(CompositeChecker([no, other], all_must_pass=False)) == (("no\nother",), ["no", "other"])
    assert outcome(CompositeChecker([CompositeChecker([no, yes], all_must_pass=False), yes])) == ((), ["no", "yes", "yes"])
    (tmp_path / "e.md").touch()
    [reason], _ = outcome(FileOutputChecker(["a.md", "b.md", "c.md", "d.md", "e.md"]))
    assert "4 required output file(s) not found: a.md, b.md, c.md and 1 more" in reason and "d.md" not in reason
    assert "1 required output file(s) are empty: e.md" in reason
    assert outcome(CommandChecker([sys.executable, "-c", "pass"])) == ((), [])


def test_an_open_list_holds_an_agent_up():
    governed = engine(lambda action: True, completion=TodosChecker())
    assert governed.check_stop().outcome == "complete"

    def write(*states):
        todos = [{"content": f"item {number}", "status": state} for number, state in enumerate(states)]
        action = Action("tool", {"todos": todos}, tool="TodoWrite")
        governed.evaluate(action)
        governed.post_action(action)

    write("completed", "pending")
    assert "item 1" in governed.check_stop().message
    write("completed", "completed")
    assert governed.check_stop().outcome == "complete"


@pytest.mark.parametrize("interruption", [KeyboardInterrupt, SystemExit])
def test_an_interruption_in_a_provider_or_a_check_is_raised_again(interruption):
    def raises(_):
        raise interruption

    governed = engine(lambda action: True, feedback=[provider("p", raises)])
    action = Action.bash("ls")
    governed.evaluate(action)
    with pytest.raises(interruption):
        governed.post_action(action)
    assert governed.session().success_count == 1

    class Check:
        def check(self, context):
            raise interruption

    governed = engine(lambda action: True, completion=Check())
    with pytest.raises(interruption):
        governed.check_stop()
    asks = provider("p", lambda _: None, should_run=lambda self, *, context: raises(context))
    governed = engine(lambda action: True, feedback=[asks])
    governed.evaluate(action)
    with pytest.raises(interruption):
        governed.post_action(action)


def test_evidence_is_read_as_the_document_says():
    for spec, evidence in {
        "src/foo.py": Evidence("src/foo.py"),
        "src/foo.py:42": Evidence("src/foo.py", 42),
        "src/foo.py:42:race: on counter": Evidence("src/foo.py", 42, "race: on counter"),
        "C:/Users/me/foo.py:17": Evidence("C:/Users/me/foo.py", 17),
        "C:\\me\\foo.py": Evidence("C:\\me\\foo.py"),
        "": Evidence(""),
    }.items():
        assert parse_evidence(spec) == evidence
        assert parse_evidence(str(evidence)) == evidence
    finding = build_finding("HIGH", "SQL injection", "sec", ["", "a.py:1:x", "  "], "raw SQL", created_at=1.0)
    assert finding.evidence == (Evidence("a.py", 1, "x"),)
    assert build_finding("LOW", "SQL injection", "sec", ["a.py:9"]).id == finding.id and len(finding.id) == 12
    assert build_finding("HIGH", "t", id="mine").id == "mine"
    assert Finding("i", "LOW", "t") == Finding("i", "LOW", "t", "", (), "", 0.0)
    for level, title in (("BAD", "t"), ("HIGH", "")):
        with pytest.raises(LookupError):
            build_finding(level, title)


def test_the_documents_entry_point_is_the_native_program(monkeypatch):
    called = []
    monkeypatch.setattr("lictor.__main__.main", lambda words: called.append(words) or 7)
    monkeypatch.setattr(sys, "argv", ["toolbox_verdict", "record", "--level", "HIGH"])
    monkeypatch.delitem(sys.modules, "lictor.toolbox_verdict")
    with pytest.raises(SystemExit) as ended:
        runpy.run_module("lictor.toolbox_verdict", run_name="__main__")
    assert (ended.value.code, called) == (7, [["verdict", "record", "--level", "HIGH"]])


def test_a_built_finding_has_the_id_that_the_ledger_gives_it(project):
    built = build_finding("HIGH", "SQL injection", "sec", ["src/users.py:42"])
    assert Ledger(project).record("p", "HIGH", "SQL injection", "sec", ["", "src/users.py:42"]) == built.id
