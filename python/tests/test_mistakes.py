"""What a program gets wrong is told where it is written, in words that name it, and never lets an action through."""

from __future__ import annotations

from pathlib import Path

import pytest

from lictor import Action, ActionError, All, ApprovalError, GraphError, LictorError, PolicyEngine, PolicyError, Project, Threshold, Verdict
from lictor.completion import CommandChecker, CompositeChecker, FileOutputChecker
from lictor.feedback import CommandFeedback
from lictor.guards import (
    BashSafetyGuard,
    BudgetGuard,
    FileBoundaryGuard,
    KnownToolsGuard,
    NetworkGuard,
    RulesGuard,
    SandboxGuard,
    SecretsGuard,
)
from lictor.policies import Policy, PolicySet
from lictor.tools import ReadBeforeWritePolicy, SequentialDependencyPolicy

LS = Action.bash("ls")

# Each takes a list of texts; the twin with a list is fine.
LISTS = {
    "blocked_patterns": lambda given: BashSafetyGuard(blocked_patterns=given),
    "blocked_prefixes": lambda given: BashSafetyGuard(blocked_prefixes=given),
    "blocked_programs": lambda given: BashSafetyGuard(blocked_programs=given),
    "allow": lambda given: BashSafetyGuard(allow=given),
    "allowed_dirs": lambda given: FileBoundaryGuard(allowed_dirs=given),
    "red_line_files": lambda given: FileBoundaryGuard(red_line_files=given),
    "blocked_paths": lambda given: FileBoundaryGuard(blocked_paths=given),
    "packs": lambda given: RulesGuard(packs=given),
    "languages": lambda given: SandboxGuard(languages=given),
    "forbid_imports": lambda given: SandboxGuard(forbid_imports=given),
    "files": lambda given: SecretsGuard(files=given),
    "deny": lambda given: NetworkGuard(deny=given),
    "known": lambda given: KnownToolsGuard(known=given),
    "blocked": lambda given: KnownToolsGuard(blocked=given),
    "redact": lambda given: PolicyEngine(BashSafetyGuard(), redact=given),
    "read_tools": lambda given: ReadBeforeWritePolicy(read_tools=given),
    "write_tools": lambda given: ReadBeforeWritePolicy(write_tools=given),
    "deploy": lambda given: SequentialDependencyPolicy({"deploy": given}),
    "argv": CommandChecker,
    "argv ": CommandFeedback,
    "files ": FileOutputChecker,
    "paths": lambda given: PolicySet([Policy("p", paths=given)]),
    "hosts": lambda given: PolicySet([Policy("p", hosts=given)]),
    "tools": lambda given: PolicySet([Policy("p", tools=given)]),
    "verbs": lambda given: PolicySet([Policy("p")], verbs=given),
}


@pytest.mark.parametrize("name", LISTS)
def test_one_text_is_not_a_list_of_letters(name):
    with pytest.raises(PolicyError, match=rf"`{name.strip()}` is one text.*\['recommended'\]"):
        LISTS[name]("recommended")
    LISTS[name](["recommended"])
    LISTS[name](("recommended",))


def test_paths_are_texts_too(tmp_path):
    engine = PolicyEngine(FileBoundaryGuard(red_line_files=[Path(".env")], allowed_dirs=[tmp_path]), root_dir=tmp_path)
    assert not engine.evaluate(Action.read(tmp_path / ".env", cwd=tmp_path))
    assert engine.evaluate(Action.read(tmp_path / "a.txt", cwd=tmp_path))
    assert not engine.evaluate(Action.read("/etc/hosts", cwd=tmp_path))


class Strict:
    def check(self, action):
        return False


@pytest.mark.parametrize("node", [Strict, BashSafetyGuard, bool, All(Strict)])
def test_a_class_is_not_a_guard(node):
    assert not PolicyEngine(All(Strict())).evaluate(LS)
    with pytest.raises(PolicyError, match=r"is a class and not a guard; give an object of it: `\w+\(\)`"):
        PolicyEngine(node)


class Nameless:
    name = 3

    def check(self, action):
        return True


@pytest.mark.parametrize(
    ("make", "error", "said"),
    [
        (lambda: PolicyEngine(Nameless()), PolicyError, "the name of .* is not text; give it a name, or none"),
        (lambda: PolicyEngine(BudgetGuard(max_actions=-1)), PolicyError, "settings of `budget` .* `max_actions`: .*`-1`"),
        (lambda: PolicyEngine(BudgetGuard(max_tasks=1.5)), PolicyError, "settings of `budget` .* `max_tasks`: .*`1.5`"),
        (lambda: PolicyEngine(BashSafetyGuard(blocked_patterns=["(?!a)b"])), PolicyError, "look-around"),
        (lambda: PolicyEngine(Threshold(2, BashSafetyGuard())), GraphError, "wants 2 of 1; use a number from 1 to 1$"),
        (lambda: Action("", {}), ActionError, "no kind"),
        (lambda: Action(3, {}), ActionError, "`kind` is not text; give text"),
        (lambda: Action.bash("ls", session_id=3), ActionError, "`session_id` is not text; give text"),
        (lambda: Action.bash("ls", user=b"ada", tool=1), ActionError, "`tool`, `user` is not text"),
        (lambda: Action("tool", {"a": [b"x"]}), ActionError, r"`payload.a\[0\]` is a `bytes`, which is not plain data; give plain"),
        (lambda: Action("tool", {"a": {"\udc80": 1}}), ActionError, "`payload.a` has a key that is not Unicode text"),
        (lambda: PolicyEngine(BashSafetyGuard()).evaluate("ls"), ActionError, "a `str` is not an action; give an `Action`"),
        (lambda: PolicyEngine(BashSafetyGuard()).post_action({}), ActionError, "a `dict` is not an action"),
        (lambda: PolicyEngine(BashSafetyGuard()).post_action(LS, "yes"), ActionError, "`'yes'` does not say what came of"),
        (lambda: Project.from_yaml("version: 1\n").evaluate("ls"), ActionError, "a `str` is not an action"),
        (lambda: PolicyEngine(BashSafetyGuard(), deadline=0), PolicyError, "a deadline of 0 seconds"),
        (lambda: PolicyEngine(BashSafetyGuard(), deadline=float("nan")), PolicyError, "a deadline of nan seconds"),
        (lambda: PolicyEngine(BashSafetyGuard(), redact=["("]), PolicyError, "`redact` has a pattern"),
        (lambda: PolicySet([Policy("p")]).check_policy("delete file"), PolicyError, "`'delete file'` is no list of concepts"),
        (lambda: PolicySet([Policy("p")]).evaluate(("delete", "file")), PolicyError, "is no list of concepts; give pairs"),
        (lambda: PolicySet([Policy("p", trigger_cardinality="many")]), PolicyError, "`many`"),
        (lambda: PolicySet([Policy("p", callback=3)]), PolicyError, "callback of policy `p` cannot be called"),
    ],
)
def test_it_is_told_what_is_wrong(make, error, said):
    with pytest.raises(error, match=said) as raised:
        make()
    assert isinstance(raised.value, LictorError) and raised.value.fix


def test_a_verdict_with_another_status_blocks_and_says_so():
    result = PolicyEngine(lambda action: Verdict("passed")).evaluate(LS)  # type: ignore[arg-type]
    assert result.decision == "block" and "status `passed`" in result.reason


def test_data_without_an_end_is_refused():
    endless: list[object] = []
    endless.append(endless)
    with pytest.raises(ActionError, match="nested too deeply"):
        Action("tool", {"a": endless})


def test_nobody_changes_what_is_judged():
    edits = [{"path": "a.txt"}]
    given = {"edits": edits, "args": ("a", "b")}
    seen = []

    def meddling(action):
        action.payload["edits"].append({"path": "/etc/passwd"})
        return True

    action = Action("tool", given)
    digest = action.digest
    edits.append({"path": "b.txt"})
    PolicyEngine(All(lambda action: seen.append(list(action.payload["edits"])), meddling)).evaluate(action)
    assert seen == [[{"path": "a.txt"}]]
    assert edits == [{"path": "a.txt"}, {"path": "b.txt"}]
    assert action.digest == digest


def asking(action):
    return Verdict.ask(reason="sure?")


def test_an_answer_is_about_what_was_asked():
    yaml = "version: 1\nguards: {ask: {expr: 'false', decision: ask, reason: 'sure?', fix: wait}}\npolicy: {all: [ask]}\n"
    for judge in (PolicyEngine(asking), Project.from_yaml(yaml)):
        action = Action.bash("ls", session_id="s")
        result = judge.evaluate(action)
        for other in (Action.bash("ls /", session_id="s"), Action.read("a", session_id="s")):
            with pytest.raises(ApprovalError, match="about another action"):
                judge.resolve(other, result, True)
        assert judge.resolve(action, result, True).passed


@pytest.mark.parametrize("answer", [None, 1, "yes", {"approved": True}])
def test_whatever_is_no_answer_lets_nothing_run(answer):
    with pytest.raises(PolicyError, match="answer"):
        PolicyEngine(asking, on_ask=lambda result: answer).check(LS)
    assert PolicyEngine(asking, on_ask=lambda result: True).check(LS).passed


def test_one_of_no_checks_is_not_met():
    def stop(checker):
        return PolicyEngine(BashSafetyGuard(), completion=checker).check_stop("s")

    assert stop(CompositeChecker([], all_must_pass=False)).blocks
    assert not stop(CompositeChecker([], all_must_pass=True)).blocks
