"""What the bridge promises beyond the original."""

import asyncio
import pickle

import pytest

from lictor import (
    Action,
    ActionError,
    ActionKind,
    All,
    Answer,
    Any,
    Blocked,
    ContextClosed,
    GovernanceLayer,
    GraphError,
    NeedsApproval,
    Not,
    Outcome,
    PolicyEngine,
    PolicyError,
    Threshold,
    Verdict,
    guard,
)
from lictor.guards import AuditGuard, BashSafetyGuard, BudgetGuard
from lictor.policies import Policy, PolicyCallbackResult, PolicySet, policy_guard


def passes(action):
    return True


def blocks(action):
    return Verdict.block(reason="no", fix="do not")


def test_actions_refuse_what_cannot_be_judged_as_it_is():
    for payload, told in [
        ({"command": "rm \udcff"}, "Unicode"),
        ({"n": 2**70}, "64 bits"),
        ({"n": float("nan")}, "finite"),
        ({"a": {"b": [b"x"]}}, "payload.a.b[0]"),
        ({1: 2}, "key"),
    ]:
        with pytest.raises(ActionError, match=told.replace("[", r"\[").replace("]", r"\]")):
            Action("bash", payload)
    deep = value = {}
    for _ in range(80):
        value["x"] = value = {}
    with pytest.raises(ActionError, match="deeply"):
        Action("bash", deep)


def test_actions_are_values():
    one, same, other = Action.bash("ls"), Action.bash("ls"), Action.bash("pwd")
    assert one == same != other and hash(one) == hash(same)
    assert pickle.loads(pickle.dumps(one)) == one
    assert Action.from_dict(one.to_dict()) == one
    assert one.kind == ActionKind.BASH == "bash"
    with pytest.raises(TypeError):
        one.payload["command"] = "rm"
    assert Action.from_tool_call("bash", {"command": "ls"}).kind == "bash"
    assert Action.from_tool_call("bash", {"cmd": "ls"}).kind == "tool"
    assert Action.from_tool_call("mine", {"command": "x"}, kinds={"mine": "bash"}).kind == "bash"


@pytest.mark.parametrize(
    ("node", "decision"),
    [
        (All(passes, blocks), "block"),
        (Any(passes, blocks), "pass"),
        (Not(blocks), "pass"),
        (Not(passes), "block"),
        (Threshold(2, passes, blocks, guard("other")(passes)), "pass"),
        (Threshold(2, passes, blocks), "block"),
        (All(lambda action: None), "pass"),
        (All(lambda action: False), "block"),
        (All(lambda action: 42), "block"),
    ],
)
def test_combinators_and_returns(node, decision):
    assert PolicyEngine(node).evaluate(Action.bash("ls")).decision == decision


def test_a_guard_that_raises_blocks_and_the_agent_is_not_told_why():
    def broken(action):
        raise KeyError("secret detail")

    result = PolicyEngine(All(broken)).evaluate(Action.bash("ls"))
    assert result.decision == "block"
    assert "secret detail" in result.faults[0]
    assert "secret detail" not in result.reason_for_agent


def test_guards_see_each_other_and_the_session():
    seen = {}

    def first(action, ctx):
        ctx.annotations["note"] = {"n": 1}
        ctx.add_risk(0.25)
        ctx.tag("sensitive")
        seen["ctx"] = ctx

    def second(action, ctx):
        seen["note"] = ctx.annotations["first.note"]
        seen["risk"] = ctx.risk_score
        seen["facts"] = ctx.facts
        seen["verdicts"] = [given.guard for given in ctx.verdicts]
        return ctx.claim(streak="sensitive", at_most=2)

    engine = PolicyEngine(All(first, second))
    action = Action.bash("cat a.txt")
    assert engine.evaluate(action).passed
    assert seen["note"] == {"n": 1} and seen["risk"] == 0.25 and seen["verdicts"] == ["first"]
    assert "effects" in seen["facts"]
    assert seen["ctx"].risk_score == 0.25
    with pytest.raises(ContextClosed):
        seen["ctx"].add_risk(0.1)
    assert engine.evaluate(action).passed
    assert not engine.evaluate(action).passed


def test_a_condition_that_raises_runs_neither_branch():
    from lictor import When

    ran = []
    engine = PolicyEngine(When(lambda a, ctx: 1 / 0, lambda a: ran.append(1), lambda a: ran.append(2)))
    assert engine.evaluate(Action.bash("ls")).decision == "block" and ran == []


def test_observers_run_beside_the_tree_and_never_decide():
    audit = AuditGuard()
    result = PolicyEngine(All(blocks, audit)).evaluate(Action.bash("ls"))
    assert result.reason == "no"
    assert audit.records[0]["action"]["payload"] == {"command": "ls"}
    with pytest.raises(GraphError):
        PolicyEngine(All(AuditGuard()))


def test_asking_a_person():
    @guard("careful", layer=GovernanceLayer.INTENT)
    def careful(action):
        return Verdict.ask(reason="really?")

    engine = PolicyEngine(All(careful))
    action = Action.bash("make deploy")
    asked = engine.evaluate(action)
    assert asked.decision == "ask" and [question.reason for question in asked.questions] == ["really?"]
    assert engine.resolve(action, asked, True).passed
    assert not engine.resolve(action, engine.evaluate(action), [Answer(False, "not today")]).passed
    assert not engine.resolve(action, engine.evaluate(action), []).passed
    with pytest.raises(PolicyError):
        engine.resolve(action, engine.evaluate(action), ["yes"])
    with pytest.raises(NeedsApproval):
        engine.check(action)
    assert PolicyEngine(All(careful), on_ask=lambda result: True).check(action).passed


def test_governed_records_the_real_outcome():
    engine = PolicyEngine(All(BashSafetyGuard()))
    with engine.governed(Action.bash("make")):
        pass
    with pytest.raises(ZeroDivisionError), engine.governed(Action.bash("make test")):
        raise ZeroDivisionError
    with pytest.raises(Blocked) as caught, engine.governed(Action.bash("rm -rf /")):
        pytest.fail("it ran")
    assert caught.value.fix
    session = engine.session()
    assert (session.success_count, session.failure_count, session.block_count) == (1, 1, 1)


def test_policies_with_python_callbacks():
    asked = []

    def is_safe(context):
        asked.append(context.policy.metadata["owner"])
        return PolicyCallbackResult(False, "two files are tracked")

    policies = PolicySet(
        [
            Policy(
                "bulk-delete",
                "delete",
                "file",
                trigger_cardinality="multiple",
                callback=is_safe,
                confirmation_message="{verb} {count} {object}s",
                metadata={"owner": "platform"},
            )
        ]
    )
    engine = PolicyEngine(All(policies))
    assert engine.evaluate(Action.bash("rm a")).passed
    result = engine.evaluate(Action.bash("rm a b"))
    [violation] = policies.violations(result)
    assert violation.policy.metadata == {"owner": "platform"} and asked == ["platform"]
    assert violation.callback_result == PolicyCallbackResult(False, "two files are tracked")

    ran = []
    answers = iter([False, True])
    remove = policy_guard(
        engine, lambda *names: Action.bash(f"rm {' '.join(names)}"), on_policy=lambda violations: next(answers)
    )(lambda *names: ran.append(names))
    with pytest.raises(Blocked):
        remove("a", "b")
    assert ran == []


def test_graphs_that_mean_nothing_are_refused_with_the_next_step():
    for node in [All(), 42, All("text"), Threshold(3, passes)]:
        with pytest.raises((GraphError, PolicyError)):
            PolicyEngine(node)
    with pytest.raises(PolicyError, match=r"\("):
        PolicyEngine(BashSafetyGuard(blocked_patterns=["("]))
    with pytest.raises(PolicyError):
        PolicyEngine(lambda: True)


def test_digests_tell_policies_apart():
    def digest(node):
        return PolicyEngine(node).policy_digest

    assert digest(All(passes)) == digest(All(passes)) != digest(All(blocks))
    assert digest(BudgetGuard(max_actions=1)) != digest(BudgetGuard(max_actions=2))


def test_async_and_nested_evaluation():
    inner = PolicyEngine(All(BashSafetyGuard()))

    def nested(action, ctx):
        return inner.evaluate(Action.bash("ls")).passed and ctx.action is action

    engine = PolicyEngine(All(nested))
    assert asyncio.run(engine.aevaluate(Action.bash("ls"))).passed
    assert asyncio.run(engine.apost_action(Action.bash("ls"), Outcome(success=False, exit_code=2))).standing == "governed"
