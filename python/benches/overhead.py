"""What governing costs, beside peers, in one run. `cargo xtask python bench` runs it: once for Lictor, and with ``--peers`` once
in the environment of each peer, since they cannot be installed side by side.

Each figure is the best of several batches: what else the machine does only ever adds. Before anything is timed, it is
checked that it decides right. With ``--check`` the promises below are held, for a quiet machine.
"""

import os
import resource
import subprocess
import sys
import threading
import time

if "--peers" not in sys.argv:
    from lictor import Action, All, PolicyEngine, Verdict
    from lictor.guards import BashSafetyGuard, BudgetGuard

PROMISES = {"a guard in Python": 1.5, "an evaluation": 15.0, "import, in ms": 30.0}
# Kilobytes that may come with 100,000 evaluations.
MEMORY = 4096


def best(run, rounds=7, batch=2000):
    """Microseconds for one run."""
    run()
    times = []
    for _ in range(rounds):
        start = time.perf_counter()
        for _ in range(batch):
            run()
        times.append((time.perf_counter() - start) / batch * 1e6)
    return min(times)


def importing(module, rounds=5):
    """Milliseconds to import a module in a fresh interpreter, beyond what the interpreter itself takes. What is installed has
    been compiled: nobody compiles it again."""
    compiled = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}

    def took(code):
        start = time.perf_counter()
        subprocess.run([sys.executable, "-c", code], check=True, env=compiled)
        return (time.perf_counter() - start) * 1e3

    took(f"import {module}")
    return min(took(f"import {module}") for _ in range(rounds)) - min(took("pass") for _ in range(rounds))


def own():
    ls, rm = Action.bash("ls"), Action.bash("rm -rf /")
    native = PolicyEngine(All(BashSafetyGuard()), facts="none")
    assert native.evaluate(ls) and not native.evaluate(rm)

    def guards(count):
        made = [(lambda n: lambda action: Verdict.pass_())(n) for n in range(count)]
        engine = PolicyEngine(All(*made), facts="none")
        assert engine.evaluate(ls)
        return best(lambda: engine.evaluate(ls))

    one, eleven = guards(1), guards(11)
    real = PolicyEngine(All(BashSafetyGuard()))
    yield "an action made", best(lambda: Action.bash("ls"))
    yield "an evaluation", best(lambda: native.evaluate(ls))
    yield "an evaluation with facts", best(lambda: real.evaluate(ls), batch=500)
    yield "a guard in Python", (eleven - one) / 10
    yield "import, in ms", importing("lictor")


def memory(evaluations=100_000):
    """Kilobytes that so many evaluations added, after as many that warmed up."""
    engine = PolicyEngine(All(lambda action: True), facts="none")
    action = Action.bash("ls")

    def spend(count):
        for _ in range(count):
            engine.evaluate(action)
            engine.post_action(action, True)
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss

    before = spend(evaluations // 4)
    return spend(evaluations) - before


def threads(count=8, each=2000):
    engine = PolicyEngine(All(BudgetGuard(max_actions=count * each // 2), lambda action: True), facts="none")
    passed = []

    def work():
        passed.extend(engine.evaluate(Action.bash("ls")).passed for _ in range(each))

    workers = [threading.Thread(target=work) for _ in range(count)]
    start = time.perf_counter()
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    assert passed.count(True) == count * each // 2, "the budget is exact"
    return (time.perf_counter() - start) / (count * each) * 1e6


def peers():
    """``(name, microseconds a check, milliseconds to import)`` of those that are installed, one trivial rule each."""
    try:
        from agent_os.policies import (
            PolicyAction,
            PolicyCondition,
            PolicyDefaults,
            PolicyDocument,
            PolicyEvaluator,
            PolicyOperator,
            PolicyRule,
        )
    except ImportError:
        pass
    else:
        condition = PolicyCondition(field="command", operator=PolicyOperator.CONTAINS, value="rm ")
        deny = PolicyRule(name="no-rm", condition=condition, action=PolicyAction.DENY)
        document = PolicyDocument(rules=[deny], defaults=PolicyDefaults(action=PolicyAction.ALLOW))
        toolkit = PolicyEvaluator(policies=[document])
        assert toolkit.evaluate({"command": "ls"}).allowed and not toolkit.evaluate({"command": "rm x"}).allowed
        yield (
            "agent-governance-toolkit",
            best(lambda: toolkit.evaluate({"command": "ls"})),
            importing("agent_os.policies", 2),
        )
    try:
        from invariant.analyzer import LocalPolicy
    except ImportError:
        pass
    else:
        rule = LocalPolicy.from_string(
            'raise "no" if:\n    (call: ToolCall)\n    call is tool:bash({command: "rm.*"})\n'
        )
        call = {"id": "1", "type": "function", "function": {"name": "bash", "arguments": {"command": "ls"}}}
        trace = [{"role": "user", "content": "go"}, {"role": "assistant", "content": None, "tool_calls": [call]}]
        assert not rule.analyze(trace).errors
        yield "invariant", best(lambda: rule.analyze(trace), 3, 100), importing("invariant.analyzer", 2)
    try:
        from guardrails import Guard, OnFailAction
        from guardrails.validators import FailResult, PassResult, Validator, register_validator
    except ImportError:
        pass
    else:

        @register_validator(name="no-rm", data_type="string")
        class NoRm(Validator):
            def _validate(self, value, metadata):
                return FailResult(error_message="no") if value.startswith("rm") else PassResult()

        guard = Guard().use(NoRm(on_fail=OnFailAction.NOOP))
        assert guard.validate("ls").validation_passed and not guard.validate("rm x").validation_passed
        yield "guardrails-ai", best(lambda: guard.validate("ls"), 3, 100), importing("guardrails", 2)


def row(*cells):
    print("| " + " | ".join(str(cell) for cell in cells) + " |")


def main():
    if "--peers" in sys.argv:
        for name, check, load in peers():
            row(name, f"{check:.1f}", f"{load:.0f}")
        return
    figures = dict(own())
    row("Lictor", "microseconds", "at most")
    row("---", "---:", "---:")
    for name, figure in figures.items():
        row(name, f"{figure:.2f}", PROMISES.get(name, ""))
    row("an evaluation, 8 threads at once", f"{threads():.2f}", "")
    added = memory()
    row("100 000 evaluations, kilobytes more", added, MEMORY)
    print()
    row("one trivial rule", "microseconds", "import, in ms")
    row("---", "---:", "---:")
    row("Lictor, with its record", f"{figures['an evaluation']:.1f}", f"{figures['import, in ms']:.0f}")
    if "--check" in sys.argv:
        broken = [name for name, most in PROMISES.items() if figures[name] > most]
        broken += ["memory"] if added > MEMORY else []
        sys.exit(f"not kept: {', '.join(broken)}" if broken else 0)


if __name__ == "__main__":
    main()
