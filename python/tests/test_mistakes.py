"""What a program gets wrong is told where it is written, in words that name it, and never lets an action through."""

from __future__ import annotations

from pathlib import Path

import pytest

from lictor import (
    Action,
    ActionError,
    All,
    ApprovalError,
    GraphError,
    InMemorySessionStore,
    LictorError,
    Outcome,
    PolicyEngine,
    PolicyError,
    Project,
    Threshold,
    Verdict,
    When,
    guard,
    layered,
)
from lictor.completion import CommandChecker, CompositeChecker, FileOutputChecker, TaskCompletionResult
from lictor.feedback import CommandFeedback, FeedbackTrigger
from lictor.guards import (
    AuditGuard,
    BashSafetyGuard,
    BudgetGuard,
    FileBoundaryGuard,
    IntentGuard,
    IntentRule,
    KnownToolsGuard,
    LayerIsolationGuard,
    NetworkGuard,
    RateLimitGuard,
    RulesGuard,
    SandboxGuard,
    SecretsGuard,
)
from lictor.policies import Policy, PolicyCallbackResult, PolicySet, policy_guard
from lictor.tools import PolicyDecision, ReadBeforeWritePolicy, SequentialDependencyPolicy

LS = Action.bash("ls")


async def never(action):
    return False


def ask_for(*_):
    return LS


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


# Without a list these are not limited, which is what `None` says.
UNLIMITED = ("allowed_dirs", "languages", "forbid_imports")
NO_LISTS = [3, True, object(), str, {"recommended": 1}, [3], [None], [b"x"]]


@pytest.mark.parametrize("name", LISTS)
def test_what_is_no_list_of_texts_is_refused(name):
    for given in NO_LISTS if name in UNLIMITED else [None, *NO_LISTS]:
        with pytest.raises(PolicyError, match=rf"`{name.strip()}` (is|has) ") as raised:
            LISTS[name](given)
        assert raised.value.fix


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
        (lambda: PolicyEngine(BashSafetyGuard(), deadline=0), PolicyError, "`deadline` is 0; give a number above 0"),
        (lambda: PolicyEngine(BashSafetyGuard(), deadline=float("nan")), PolicyError, "`deadline` is nan"),
        (lambda: PolicyEngine(BashSafetyGuard(), deadline=True), PolicyError, "`deadline` is a `bool` and not a number"),
        (lambda: PolicyEngine(BashSafetyGuard(), session_store=""), PolicyError, "`''` is not a store; give `SQLiteSessionStore"),
        (lambda: PolicyEngine(BashSafetyGuard(), session_store="a.db"), PolicyError, "is not a store"),
        (lambda: PolicyEngine(BashSafetyGuard(), tracer=print), PolicyError, "`tracer` is a `builtin_function_or_method` and not a list"),
        (lambda: PolicyEngine(BashSafetyGuard(), tracer=[3]), PolicyError, "`tracer` is a `int` without `trace`"),
        (lambda: PolicyEngine(BashSafetyGuard(), on_ask=True), PolicyError, "`on_ask` is a `bool`, which cannot be called"),
        (lambda: PolicyEngine(BashSafetyGuard(), completion=FileOutputChecker), PolicyError, "`completion` is the class `FileOutputChecker`"),
        (lambda: PolicyEngine(BashSafetyGuard(), completion=lambda context: None), PolicyError, "`completion` is a `function` without `check`"),
        (lambda: PolicyEngine(BashSafetyGuard(), feedback=3), PolicyError, "`feedback` is a `int` and not a list"),
        (lambda: PolicyEngine(BashSafetyGuard(), feedback=[3]), PolicyError, "`provider` is a `int` without `provide`"),
        (lambda: PolicyEngine(BashSafetyGuard(), policies=3), PolicyError, "`policies` is a `int` and not a list"),
        (lambda: PolicyEngine(BashSafetyGuard(), observe_only="no"), PolicyError, "`observe_only` is a `str`; give True or False"),
        (lambda: PolicyEngine(BashSafetyGuard(), root_dir=3), PolicyError, "`root_dir` is a `int` and not a path"),
        (lambda: PolicyEngine(BashSafetyGuard(), default_session=3), PolicyError, "`default_session` is a `int` and not text"),
        (lambda: PolicyEngine(FileBoundaryGuard(root="\udc80")), GraphError, "surrogates not allowed"),
        (lambda: PolicyEngine(When(3, BashSafetyGuard())), PolicyError, "`condition` is a `int`, which cannot be called"),
        (lambda: Threshold(True, BashSafetyGuard()), PolicyError, "`n` is a `bool` and not a whole number"),
        (lambda: All(BashSafetyGuard(), short_circuit="no"), PolicyError, "`short_circuit` is a `str`"),
        (lambda: layered(boundary=BashSafetyGuard()), PolicyError, "`boundary` is a `BashSafetyGuard` and not a list"),
        (lambda: PolicyEngine(guard("g", layer="inner")(lambda action: True)), PolicyError, "`inner` is not a layer of `g`"),
        (lambda: InMemorySessionStore(0), PolicyError, "`keep` is 0; give a number from 1 on"),
        (lambda: BudgetGuard(max_cost=-1), PolicyError, "`max_cost` is -1"),
        (lambda: RateLimitGuard(True), PolicyError, "`max_per_minute` is a `bool`"),
        (lambda: LayerIsolationGuard(["a"]), PolicyError, "`layers` is a `list` and not a mapping"),
        (lambda: AuditGuard("audit.log"), PolicyError, "`sink` is a `str` without `write`"),
        (lambda: IntentGuard(["deploy"]), PolicyError, "`'deploy'` is not a rule"),
        (lambda: IntentGuard([IntentRule("deploy", never, "no", "no")]), PolicyError, "`require` for `deploy` is asynchronous"),
        (lambda: FeedbackTrigger(every_n_calls=0), PolicyError, "`every_n_calls` is 0"),
        (lambda: FeedbackTrigger(every_n_seconds=-1), PolicyError, "`every_n_seconds` is -1; give a number above 0"),
        (lambda: CompositeChecker([3]), PolicyError, "`checkers` is a `int` without `check`"),
        (lambda: PolicySet([3]), PolicyError, "`3` is not a policy"),
        (lambda: PolicySet([Policy("p")]).evaluate([("delete", "file")], "lots"), PolicyError, "`lots`"),
        (lambda: PolicySet([Policy("p")]).evaluate([("\udc80", "file")]), PolicyError, "surrogates"),
        (lambda: policy_guard(PolicyEngine(BashSafetyGuard()), ask_for, "multiple"), PolicyError, "leave `cardinality` out"),
        (lambda: policy_guard("policies", ask_for), PolicyError, "`'policies'` judges nothing"),
        (lambda: Action("Bash", {"command": "ls"}), ActionError, "`Bash` is not a kind of action; did you mean `bash`"),
        (lambda: Action("execute-code", {}), ActionError, "did you mean `execute_code`"),
        (lambda: Action.from_tool_call("sh", {"command": "ls"}, kinds={"sh": "bsh"}), ActionError, "did you mean `bash`"),
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


@pytest.mark.parametrize("given", [None, "no", 1, [], object()])
def test_what_is_neither_yes_nor_no_lets_nothing_pass(given):
    class Vague:
        name = "vague"

        def check(self, *_, **__):
            return PolicyDecision(given)

    class Half:
        def check(self, context):
            return TaskCompletionResult(given, "half")

    class Tool(Vague):
        def check(self, tool, params, *, context):
            return PolicyDecision(given)

    assert not PolicyEngine(Vague()).evaluate(LS)
    assert not PolicyEngine(BashSafetyGuard(), policies=[Tool()]).evaluate(LS)
    for checker in (Half(), CompositeChecker([Half()]), CompositeChecker([Half()], all_must_pass=False)):
        assert PolicyEngine(BashSafetyGuard(), completion=checker).check_stop("s").blocks
    callback = PolicySet([Policy("p", "delete", requires_confirmation=False, callback=lambda _: PolicyCallbackResult(given))])
    assert not callback.check_policy([("delete", "file")])


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_a_condition_that_would_have_to_be_awaited_runs_neither_branch():
    ran = []
    engine = PolicyEngine(When(lambda action, ctx: never(action), lambda action: ran.append(1), lambda action: ran.append(2)))
    result = engine.evaluate(LS)
    assert result.decision == "block" and ran == [] and "awaited" in result.faults[0]


def test_faults_are_logged_with_their_traceback(caplog):
    def broken(action):
        raise KeyError("here")

    class Sink:
        def write(self, line):
            raise OSError("disk full")

    class Provider:
        name = "hint"

        def provide(self, *, context):
            raise KeyError("there")

    engine = PolicyEngine(All(broken, AuditGuard(Sink())), feedback=[Provider()])
    engine.evaluate(LS)
    engine.post_action(LS)
    told = {record.getMessage(): record.exc_info for record in caplog.records}
    assert set(told) == {"the guard `broken` failed", "the guard `audit` failed", "the feedback provider `hint` failed"}
    assert all(info[2] is not None for info in told.values())


@pytest.mark.parametrize("judge", [PolicyEngine(BashSafetyGuard()), Project.from_yaml("version: 1\n")], ids=["engine", "project"])
@pytest.mark.parametrize(
    "call",
    [
        lambda judge: judge.session("\udc80"),
        lambda judge: judge.session(3),
        lambda judge: judge.check_stop("\udc80"),
        lambda judge: judge.check_stop("s", output=3),
        lambda judge: judge.prompted("s", "\udc80"),
        lambda judge: judge.delegate("a", "b", 3),
        lambda judge: judge.delegate("a", "b", {"knds": ["read"]}),
        lambda judge: judge.end(3),
        lambda judge: judge.judged("ls"),
        lambda judge: judge.resolve(LS, None, True),
        lambda judge: judge.post_action(LS, Outcome(False, error="\udc80")),
        lambda judge: judge.post_action(LS, Outcome(True, exit_code="0")),
        lambda judge: judge.post_action(LS, Outcome("yes")),
        lambda judge: judge.post_action(LS, Outcome(True, changed="a.txt")),
        lambda judge: judge.approvals.approve("\udc80"),
        lambda judge: judge.approvals.approve("x", minutes="60"),
        lambda judge: judge.evaluate(Action.bash("ls", chain="ab")),
        lambda judge: judge.evaluate(Action.bash("ls", cwd=3)),
        lambda judge: judge.evaluate(Action.bash("ls", metadata=3)),
        lambda judge: judge.evaluate(Action.from_dict({})),
        lambda judge: judge.evaluate(Action.from_dict({"kind": "tool", "sesion_id": "s"})),
    ],
)
def test_what_a_method_cannot_take_is_an_error_of_the_package(judge, call):
    with pytest.raises(LictorError) as raised:
        call(judge)
    assert raised.value.fix


def test_a_failure_with_words_that_are_no_unicode_is_recorded():
    class Wordless(Exception):
        def __str__(self):
            raise RuntimeError

    engine = PolicyEngine(BashSafetyGuard())
    for error in (OSError("\udc80"), Wordless()):
        with pytest.raises(type(error)), engine.governed(LS):
            raise error
    assert engine.session().failure_count == 2


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
