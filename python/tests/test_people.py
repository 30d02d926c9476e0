"""Questions that wait for a person, and what reviewers found."""

import pytest

from lictor import Action, All, PolicyEngine, Project, Verdict
from lictor.approvals import Approvals
from lictor.errors import ApprovalError, LedgerError
from lictor.ledger import Evidence, Ledger, parse_evidence


def asks(action):
    return Verdict.ask(reason="deploy now?")


def test_a_yes_counts_once_and_a_no_stays():
    engine = PolicyEngine(All(asks), facts="none")
    action = Action.bash("make deploy")
    assert engine.evaluate(action).decision == "ask"
    [waiting] = engine.approvals
    assert "deploy now?" in waiting.reasons[0]
    engine.approvals.approve(waiting.id, by="ada")
    assert engine.evaluate(action).passed
    engine.post_action(action, True)
    assert engine.evaluate(action).decision == "ask"
    [waiting] = engine.approvals
    engine.approvals.deny(waiting.id, by="ada", reason="friday")
    refused = engine.evaluate(action)
    assert refused.decision == "block" and "friday" in refused.reason
    assert len(engine.approvals) == 0
    with pytest.raises(ApprovalError) as caught:
        engine.approvals.approve("nothing")
    assert caught.value.reason and isinstance(engine.approvals, Approvals)


@pytest.fixture
def ledger(repository):
    return Ledger(Project.open(repository))


def test_findings_amount_to_a_verdict(ledger):
    evidence = [Evidence("src/users.py", 42, "unescaped input"), "src/app.py"]
    found = ledger.record("abc123", "HIGH", "SQL injection", "security", evidence, "it is concatenated")
    ledger.record("abc123", "LOW", "a long line", "style")
    verdict = ledger.show("abc")
    assert (verdict.plan_hash, verdict.level, len(verdict.findings)) == ("abc123", "HIGH", 2)
    worst = verdict.findings[0]
    assert worst.id == found and worst.evidence == (Evidence("src/users.py", 42, "unescaped input"), Evidence("src/app.py"))
    assert "SQL injection" in ledger.explain("abc123")
    assert len(ledger.recent_verdicts()) == 1 and ledger.recent_verdicts(min_level="CRITICAL") == []
    assert ledger.clear("abc123", found, by="ada", reason="escaped now")
    assert not ledger.clear("abc123", found, by="ada")
    assert ledger.show("abc123").level == "LOW"
    with pytest.raises(LedgerError):
        ledger.show("zzz")


@pytest.mark.parametrize(
    ("spec", "evidence"),
    [("a.py", Evidence("a.py")), ("a.py:3", Evidence("a.py", 3)), ("a.py:3:b:c", Evidence("a.py", 3, "b:c"))],
)
def test_evidence_is_written_as_it_is_read(spec, evidence):
    assert parse_evidence(spec) == evidence and str(evidence) == spec


def test_what_is_no_evidence_is_told():
    with pytest.raises(LedgerError) as caught:
        parse_evidence("a.py:99999999999")
    assert caught.value.fix
