"""What governing costs, beside peers where they are installed, in one run. `cargo xtask python bench` runs it.

Each figure is the best of several batches: what else the machine does only ever adds. Before anything is timed, it is
checked that it decides right. With ``--check`` the promises below are held, for a quiet machine.
"""

import resource
import subprocess
import sys
import threading
import time

from lictor import Action, All, PolicyEngine, Verdict
from lictor.guards import BashSafetyGuard, BudgetGuard

PROMISES = {"a guard in Python": 1.5, "an evaluation": 15.0, "import, in ms": 30.0}


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
    """Milliseconds to import a module in a fresh interpreter, beyond what the interpreter itself takes."""

    def took(code):
        start = time.perf_counter()
        subprocess.run([sys.executable, "-c", code], check=True)
        return (time.perf_counter() - start) * 1e3

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
        from invariant.analyzer import LocalPolicy
    except ImportError:
        yield "invariant", None, None
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
        yield "guardrails-ai", None, None
    else:

        @register_validator(name="no-rm", data_type="string")
        class NoRm(Validator):
            def _validate(self, value, metadata):
                return FailResult(error_message="no") if value.startswith("rm") else PassResult()

        guard = Guard().use(NoRm(on_fail=OnFailAction.NOOP))
        assert guard.validate("ls").validation_passed and not guard.validate("rm x").validation_passed
        yield "guardrails-ai", best(lambda: guard.validate("ls"), 3, 100), importing("guardrails", 2)


def main():
    figures = dict(own())
    print(f"{'lictor':<28} {'µs':>10}")
    for name, figure in figures.items():
        print(f"{name:<28} {figure:>10.2f}")
    print(f"{'8 threads, an evaluation':<28} {threads():>10.2f}")
    added = memory()
    print(f"{'100 000 evaluations, KB more':<28} {added:>10}")
    print(f"\n{'one trivial rule':<28} {'µs':>10} {'import ms':>10}")
    print(f"{'lictor, with its record':<28} {figures['an evaluation']:>10.1f} {figures['import, in ms']:>10.1f}")
    for name, check, load in peers():
        print(f"{name:<28} " + (f"{check:>10.1f} {load:>10.1f}" if check is not None else "not installed"))
    if "--check" in sys.argv:
        broken = [name for name, most in PROMISES.items() if figures[name] > most]
        broken += ["memory"] if added > 4096 else []
        sys.exit(f"not kept: {', '.join(broken)}" if broken else 0)


if __name__ == "__main__":
    main()
