"""Threads, forks, interruptions, the end of the interpreter, and memory over a long time."""

import asyncio
import os
import resource
import subprocess
import sys
import textwrap
import threading

import pytest

from lictor import Action, All, InMemorySessionStore, PolicyEngine, SQLiteSessionStore, Verdict, guard
from lictor.guards import BudgetGuard


def deploy_asks():
    asked = []

    @guard("once")
    def once(action):
        asked.append(action)
        return Verdict.ask(reason="deploy now?") if len(asked) == 1 else Verdict.block(reason="twice")

    return once


def test_eight_threads_are_counted_exactly():
    engine = PolicyEngine(All(BudgetGuard(max_actions=1000), lambda action: True), facts="none")
    passed = []

    def work():
        passed.extend(engine.evaluate(Action.bash("ls")).passed for _ in range(200))

    threads = [threading.Thread(target=work) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert passed.count(True) == 1000 and engine.session().action_count == 1600


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork here")
def test_a_forked_child_opens_the_store_itself(tmp_path):
    engine = PolicyEngine(All(lambda action: True), session_store=SQLiteSessionStore(tmp_path / "db"), facts="none")
    opened = engine._raw
    assert engine.evaluate(Action.bash("ls", session_id="s"))
    child = os.fork()
    if child == 0:
        fine = engine.evaluate(Action.bash("ls", session_id="s")).passed and engine._raw is not opened
        os._exit(0 if fine else 1)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    assert engine.evaluate(Action.bash("ls", session_id="s")) and engine._raw is opened
    assert engine.session("s").action_count == 3


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork here")
@pytest.mark.parametrize("place", ["memory", "file"])
def test_a_child_that_is_forked_while_threads_evaluate_goes_on(place):
    forked = run(
        """
        import os, signal, sys, tempfile, threading
        from lictor import Action, PolicyEngine, SQLiteSessionStore
        store = None if sys.argv[1] == "memory" else SQLiteSessionStore(tempfile.mkdtemp() + "/db")
        engine = PolicyEngine(lambda action: True, session_store=store, facts="none")
        over = threading.Event()
        def work():
            while not over.is_set():
                engine.evaluate(Action.bash("ls"))
        threads = [threading.Thread(target=work) for _ in range(3)]
        for thread in threads:
            thread.start()
        ended = []
        for _ in range(20):
            child = os.fork()
            if child == 0:
                # Ends a child that waits for a lock of its parent.
                signal.alarm(20)
                os._exit(0 if engine.evaluate(Action.bash("ls")).passed else 1)
            ended.append(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
            if ended[-1] != 0:
                break
        over.set()
        assert set(ended) == {0}, ended
        """,
        place,
    )
    assert forked.returncode == 0, forked.stderr


def test_a_guard_may_fork():
    def forks(action):
        child = os.fork()
        if child == 0:
            os._exit(0)
        return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0

    assert PolicyEngine(forks, facts="none").evaluate(Action.bash("ls"))


def test_a_replayed_call_keeps_its_decision_in_another_process(tmp_path):
    call = Action.bash("make deploy", session_id="s", tool_use_id="c1")

    def engine():
        # The same policy, whose state is new in each process.
        return PolicyEngine(All(deploy_asks()), session_store=SQLiteSessionStore(tmp_path / "db"), facts="none")

    first = engine()
    assert first.judged(call) is None
    given = first.evaluate(call)
    again = engine().judged(call)
    assert again is not None and (again.decision, again.id) == ("ask", given.id)
    assert engine().judged(call.replace(tool_use_id="c2")) is None
    assert engine().judged(call.replace(payload={"command": "rm"})) is None
    assert engine().resolve(call, again, True).passed
    assert engine().judged(call).passed


def test_a_store_in_memory_stays_small():
    engine = PolicyEngine(All(lambda action: True), session_store=InMemorySessionStore(keep=200), facts="none")
    action = Action.bash("ls")

    def used():
        for _ in range(2000):
            engine.evaluate(action)
            engine.post_action(action, True)
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss

    used()
    before = used()
    assert used() - before < 1024, "kilobytes for 2000 more evaluations"


@pytest.mark.parametrize("interruption", [KeyboardInterrupt, SystemExit, asyncio.CancelledError])
def test_an_interruption_blocks_is_recorded_and_goes_on(interruption):
    def impatient(action):
        raise interruption

    engine = PolicyEngine(All(impatient), facts="none")
    with pytest.raises(interruption):
        engine.evaluate(Action.bash("ls"))
    assert engine.session().block_count == 1


def run(code, *arguments):
    words = [sys.executable, "-c", textwrap.dedent(code), *arguments]
    return subprocess.run(words, capture_output=True, text=True, timeout=120)


def test_an_interpreter_that_ends_during_an_evaluation_ends():
    ended = run(
        """
        import threading, time
        from lictor import Action, All, PolicyEngine
        begun = threading.Event()
        def slow(action):
            begun.set()
            time.sleep(30)
        engine = PolicyEngine(All(slow), facts="none")
        threading.Thread(target=lambda: engine.evaluate(Action.bash("ls")), daemon=True).start()
        begun.wait()
        """
    )
    assert ended.returncode == 0 and "panicked" not in ended.stderr, ended.stderr


def test_importing_loads_nothing_that_is_not_used():
    loaded = run("import sys, lictor; print(*sys.modules)").stdout.split()
    slow = {"ast", "asyncio", "dataclasses", "inspect", "json", "logging", "pathlib", "sqlite3", "subprocess", "getpass"}
    assert slow & set(loaded) == set()
