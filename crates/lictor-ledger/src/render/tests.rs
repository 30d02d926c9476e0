use super::text;
use crate::evidence::Evidence;
use crate::finding::{Disposition, Finding};
use crate::ledger::Recent;
use crate::level::Level;
use crate::verdict::{PlanVerdict, Tally};

fn finding(level: Level, title: &str, agent: &str, evidence: &str, rationale: &str) -> Finding {
    Finding {
        id: format!("{level}-{}", title.len()).parse().unwrap(),
        level,
        title: title.to_owned(),
        agent: agent.to_owned(),
        evidence: Evidence::parse(evidence).into_iter().filter(Evidence::points_somewhere).collect(),
        rationale: rationale.to_owned(),
        created_at: Default::default(),
        updated_at: Default::default(),
        disposition: Disposition::Open,
    }
}

fn verdict(plan: &str, findings: Vec<Finding>) -> PlanVerdict {
    PlanVerdict::new(plan.parse().unwrap(), findings, Default::default(), Default::default())
}

#[test]
fn explain_as_the_document_prints_it() {
    let style = "style: trailing whitespace";
    let injection = "SQL injection in users.py";
    let why = "req.form values flow into raw SQL";
    let shown = text::explain(&verdict(
        "abc123",
        vec![
            finding(Level::Low, style, "code-reviewer", "src/users.py:57", ""),
            finding(Level::High, injection, "security-reviewer", "src/users.py:42:unescaped input", why),
        ],
    ));
    assert_eq!(
        shown,
        "[verdict] plan=abc123  level=HIGH  2 finding(s): 1 high, 1 low\n\
        \x20 - [HIGH] SQL injection in users.py  (agent: security-reviewer)\n\
        \x20     why: req.form values flow into raw SQL\n\
        \x20     evidence: src/users.py:42 — unescaped input\n\
        \x20 - [LOW] style: trailing whitespace  (agent: code-reviewer)\n\
        \x20     evidence: src/users.py:57\n"
    );
}

#[test]
fn worst_first_then_by_title() {
    let titles = [
        (Level::Low, "b"),
        (Level::High, "z"),
        (Level::High, "a"),
        (Level::Medium, "m"),
        (Level::Critical, "c"),
        (Level::Low, "B"),
    ];
    let findings = titles.iter().map(|(level, title)| finding(*level, title, "", "", "")).collect();
    let order: String = verdict("p", findings).open.iter().map(|finding| finding.title.as_str()).collect();
    assert_eq!(order, "cazmBb");
}

#[test]
fn retro_as_the_document_prints_it() {
    let recent = |plan: &str, levels: &[Level]| Recent {
        plan: plan.parse().unwrap(),
        tally: Tally::of(levels.iter().copied()),
        council: None,
        created_at: Default::default(),
        updated_at: Default::default(),
    };
    let shown = text::retro(
        &[
            recent("plan-crit", &[Level::Critical]),
            recent("plan-hi", &[Level::High, Level::Low]),
            recent("plan-ok", &[Level::Low]),
        ],
        Level::Low,
    );
    assert_eq!(
        shown,
        "[retro] 3 recent verdict(s):\n\
        \x20 - plan-crit  CRITICAL  BLOCK  1 finding(s): 1 critical\n\
        \x20 - plan-hi    HIGH      BLOCK  2 finding(s): 1 high, 1 low\n\
        \x20 - plan-ok    LOW       ok     1 finding(s): 1 low\n"
    );
    assert_eq!(text::retro(&[], Level::High), "[retro] no verdicts of level HIGH or above.\n");
}

#[test]
fn hostile_text_forges_neither_lines_nor_annotations_nor_cells() {
    use crate::gate::{Blocked, Blocker, GateOutcome, Seen};
    let bad = finding(Level::High, "x\n::error::y | z", "a,b:c", "f,g.py:1", "why\n::stop::");
    let blocked = Blocked {
        findings: vec![Blocker { plan: "p".parse().unwrap(), evidence: bad.evidence.clone(), finding: bad }],
        ..Blocked::default()
    };
    let outcome = GateOutcome::Blocked(blocked, Seen::default());
    let lines = super::github::gate("ci", &outcome);
    assert_eq!(
        lines,
        "::error file=f%2Cg.py,line=1,title=HIGH x%0A%3A%3Aerror%3A%3Ay | z::a,b:c: why%0A::stop::\n"
    );
    let table = super::markdown::gate("ci", &outcome);
    assert!(table.contains("| HIGH | x\\\\n::error::y \\| z | a,b:c | f,g.py:1 | why |"), "{table}");
    assert!(text::gate("ci", &outcome).contains("[HIGH] x\\n::error::y | z  (agent: a,b:c)\n"));
}

#[test]
fn json_keeps_the_documents_fields_in_their_order() {
    let json =
        super::json::verdict(&verdict("p", vec![finding(Level::High, "t", "a", "f.py:1:n", "w")]), |_| &[]);
    let keys = [
        "plan_hash",
        "level",
        "summary",
        "findings",
        "id",
        "title",
        "agent",
        "evidence",
        "file",
        "line",
        "note",
        "rationale",
        "created_at",
        "updated_at",
    ];
    let mut from = 0;
    for key in keys {
        let at = json.get(from..).and_then(|rest| rest.find(&format!("\"{key}\":")));
        from += at.unwrap_or_else(|| panic!("{key} is missing or out of order: {json}"));
    }
}
