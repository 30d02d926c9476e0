use lictor_core::{FixedClock, Timestamp};
use lictor_store::{Durability, MemoryStore, Space, StoreExt as _};

use super::{Answer, Change, Ledger, LedgerError, RepositoryId, Verb};
use crate::evidence::{Bound, Evidence};
use crate::finding::Claim;
use crate::identity::PlanHash;
use crate::level::Level;
use crate::render::text;

struct World {
    store: MemoryStore,
    repository: RepositoryId,
    plan: PlanHash,
}

impl World {
    fn new() -> Self {
        let repository = RepositoryId::of(std::path::Path::new("/repo/.git"));
        Self { store: MemoryStore::new(), repository, plan: "plan-1".parse().unwrap() }
    }

    fn at<T>(&self, millis: i64, f: impl FnOnce(&Ledger<'_>) -> T) -> T {
        f(&Ledger::new(&self.store, &self.repository, &FixedClock(Timestamp(millis))))
    }

    fn summary(&self) -> (Level, String) {
        let tally = self.at(1_000_000, |ledger| ledger.verdict("plan-1")).unwrap().tally();
        (tally.level(), tally.summary())
    }

    /// The end of every test: the projection matches the log.
    fn check(&self) {
        assert_eq!(self.at(0, |ledger| ledger.verify()).unwrap(), []);
    }
}

fn claim(level: Level, title: &str) -> Claim {
    Claim::new(level, title, "sec").unwrap()
}

fn at(spec: &str) -> Evidence {
    Evidence::parse(spec).unwrap()
}

#[test]
fn a_raise_leaves_one_finding_and_its_history() {
    let world = World::new();
    let medium = claim(Level::Medium, "SQL injection").with_evidence([at("src/users.py:42")]).unwrap();
    let critical = claim(Level::Critical, "SQL injection")
        .with_evidence([at("src/users.py:57:here")])
        .unwrap()
        .with_rationale("flows into SQL")
        .unwrap();
    let first = world.at(10, |ledger| ledger.record(&world.plan, &medium)).unwrap();
    let second = world.at(20, |ledger| ledger.record(&world.plan, &critical)).unwrap();
    assert_eq!((first.change, second.change), (Change::New, Change::Raised));
    assert_eq!(first.id, second.id);
    assert_eq!(first.id.as_str().len(), 12);
    let verdict = world.at(20, |ledger| ledger.verdict("plan-1")).unwrap();
    let [finding] = verdict.open.as_slice() else { panic!("one finding") };
    assert_eq!((finding.created_at, finding.updated_at), (Timestamp(10), Timestamp(20)));
    assert_eq!((verdict.created_at, verdict.updated_at), (Timestamp(10), Timestamp(20)));
    assert_eq!(finding.level, Level::Critical);
    let history = world.at(20, |ledger| ledger.history(&world.plan, &first.id)).unwrap();
    let steps: Vec<_> = history.iter().map(|step| (step.what.as_str(), step.level)).collect();
    assert_eq!(steps, [("recorded", Level::Medium), ("raised", Level::Critical)]);
    world.check();
}

#[test]
fn what_a_report_leaves_out_stays_and_first_seen_stays() {
    let world = World::new();
    let k1 = |level| claim(level, "t").with_id(Some("k1".parse().unwrap()));
    let full = k1(Level::Medium).with_evidence([at("a.py:1")]).unwrap().with_rationale("why").unwrap();
    world.at(1, |ledger| ledger.record(&world.plan, &full)).unwrap();
    let k2 = claim(Level::Low, "u").with_id(Some("k2".parse().unwrap()));
    world.at(2, |ledger| ledger.record(&world.plan, &k2)).unwrap();
    world.at(3, |ledger| ledger.record(&world.plan, &k1(Level::Critical))).unwrap();
    let (_, finding) = world.at(3, |ledger| ledger.finding("plan-1", "k1")).unwrap();
    assert_eq!(
        (finding.rationale.as_str(), finding.evidence.len(), finding.created_at),
        ("why", 1, Timestamp(1))
    );
    assert_eq!(world.summary(), (Level::Critical, "2 finding(s): 1 critical, 1 low".to_owned()));
    world.at(4, |ledger| ledger.lower("plan-1", "k1", Level::Low, "ann", "only in tests")).unwrap();
    assert_eq!(world.summary(), (Level::Low, "2 finding(s): 2 low".to_owned()));
    world.at(5, |ledger| ledger.clear("plan-1", "k1", "ann", "")).unwrap();
    assert_eq!(world.summary(), (Level::Low, "1 finding(s): 1 low".to_owned()));
    world.at(6, |ledger| ledger.clear("plan-1", "k2", "ann", "")).unwrap();
    assert_eq!(world.summary(), (Level::Low, "No findings.".to_owned()));
    world.check();
}

#[test]
fn a_report_without_a_place_refines_the_only_finding_of_its_title() {
    let world = World::new();
    let placed = claim(Level::Medium, "leak").with_evidence([at("a.py:1")]).unwrap();
    let id = world.at(1, |ledger| ledger.record(&world.plan, &placed)).unwrap().id;
    let raised = world.at(2, |ledger| ledger.record(&world.plan, &claim(Level::High, "leak"))).unwrap();
    assert_eq!((raised.id, raised.change), (id, Change::Raised));
    let elsewhere = claim(Level::Low, "leak").with_evidence([at("b.py:1")]).unwrap();
    assert_eq!(world.at(3, |ledger| ledger.record(&world.plan, &elsewhere)).unwrap().change, Change::New);
    // Two candidates now: no guess, a new finding.
    let third = world.at(4, |ledger| ledger.record(&world.plan, &claim(Level::Low, "leak"))).unwrap();
    assert_eq!(third.change, Change::New);
    assert_eq!(world.summary().1, "3 finding(s): 1 high, 2 low");
    world.check();
}

#[test]
fn clearing_is_an_event_and_a_later_report_opens_it_again() {
    let world = World::new();
    let high = claim(Level::High, "t");
    let id = world.at(1, |ledger| ledger.record(&world.plan, &high)).unwrap().id;
    world.at(1, |ledger| ledger.record(&world.plan, &claim(Level::Low, "u"))).unwrap();
    let cleared = world
        .at(2, |ledger| ledger.clear("plan-1", id.as_str().get(..5).unwrap(), "ann", "fixed in 3"))
        .unwrap();
    assert_eq!(cleared, Some(id.clone()));
    assert_eq!(world.summary(), (Level::Low, "1 finding(s): 1 low".to_owned()));
    assert_eq!(world.at(3, |ledger| ledger.clear("plan-1", id.as_str(), "ann", "")).unwrap(), None);
    assert_eq!(world.at(3, |ledger| ledger.clear("plan-1", "no-such", "ann", "")).unwrap(), None);
    assert_eq!(world.at(4, |ledger| ledger.record(&world.plan, &high)).unwrap().change, Change::Reopened);
    assert_eq!(world.summary().0, Level::High);
    let steps = world.at(4, |ledger| ledger.history(&world.plan, &id)).unwrap();
    let steps: Vec<_> =
        steps.iter().map(|step| (step.what.as_str(), step.by.as_str(), step.reason.as_str())).collect();
    assert_eq!(
        steps,
        [("recorded", "sec", ""), ("cleared", "ann", "fixed in 3"), ("reported-again", "sec", "")]
    );
    world.check();
}

#[test]
fn a_waiver_needs_somebody_else_a_reason_and_a_future() {
    let world = World::new();
    let id = world.at(1, |ledger| ledger.record(&world.plan, &claim(Level::High, "t"))).unwrap().id;
    let waive = |by: &str, reason: &str, until: Option<i64>| {
        world.at(5, |ledger| {
            ledger.rule("plan-1", id.as_str(), Verb::AcceptRisk, by, reason, until.map(Timestamp))
        })
    };
    assert!(matches!(waive("sec", "mine", None), Err(LedgerError::OwnFinding { .. })));
    assert!(matches!(waive(" ", "x", None), Err(LedgerError::Unaccountable(..))));
    assert!(matches!(waive("ann", "", None), Err(LedgerError::Unaccountable(..))));
    assert!(matches!(waive("ann", "x", Some(5)), Err(LedgerError::EndsInThePast)));
    assert_eq!(world.summary().0, Level::High);
    waive("ann", "behind a firewall", Some(100)).unwrap();
    let level = |at| world.at(at, |ledger| ledger.verdict("plan-1")).unwrap().level();
    assert_eq!(level(99), Level::Low);
    assert_eq!(level(100), Level::High);
    world.check();
}

#[test]
fn a_waiver_holds_in_later_plans_until_it_gets_worse_or_the_code_is_another() {
    let bound = |snippet: &str| {
        let bound = Bound { blob: "b".to_owned(), snippet: Some(snippet.to_owned()) };
        Evidence { bound: Some(bound), ..at("a.py:1") }
    };
    let world = World::new();
    let seen = |level, snippet| claim(level, "t").with_evidence([bound(snippet)]).unwrap();
    let record = |plan: &str, claim: &Claim| {
        world.at(9, |ledger| ledger.record(&plan.parse().unwrap(), claim)).unwrap().open
    };
    assert!(record("plan-1", &seen(Level::High, "x")));
    let id = world.at(9, |ledger| ledger.verdict("plan-1")).unwrap().open[0].id.to_string();
    world.at(9, |ledger| ledger.rule("plan-1", &id, Verb::FalsePositive, "ann", "a test", None)).unwrap();
    assert!(!record("plan-1", &seen(Level::High, "x")));
    assert!(!record("plan-2", &seen(Level::High, "x")));
    assert!(record("plan-3", &seen(Level::Critical, "x")));
    assert!(record("plan-4", &seen(Level::High, "y")));
    world.at(9, |ledger| ledger.rule("plan-1", &id, Verb::Reopen, "ann", "", None)).unwrap();
    assert!(record("plan-5", &seen(Level::High, "x")));
    world.check();
}

fn attested(plan: &PlanHash) -> crate::council::Attestation {
    let (council, tree) = ("ship-it".to_owned(), "tree".to_owned());
    crate::council::Attestation {
        plan: plan.clone(),
        council,
        tree,
        files: Vec::new(),
        reviewers: Vec::new(),
    }
}

#[test]
fn a_report_does_not_put_a_known_finding_into_other_words() {
    for agent in ["sec", "coder"] {
        let world = World::new();
        let said = |title: &str, level, rationale: &str| {
            let claim = Claim::new(level, title, agent).unwrap().with_id(Some("k1".parse().unwrap()));
            claim.with_rationale(rationale).unwrap()
        };
        let first = claim(Level::High, "SQL injection").with_id(Some("k1".parse().unwrap()));
        world.at(1, |ledger| ledger.attest(attested(&world.plan), &[first])).unwrap();
        let words = || {
            let (_, finding) = world.at(9, |ledger| ledger.finding("plan-1", "k1")).unwrap();
            (finding.title, finding.rationale)
        };
        let record = |claim| world.at(2, |ledger| ledger.record(&world.plan, &claim)).unwrap();
        let added = record(said("SQL injection", Level::High, "flows into SQL"));
        assert_eq!(
            (added.change, added.words_kept),
            (Change::Refined, false),
            "a missing rationale may be added"
        );
        for level in [Level::High, Level::Critical] {
            let kept = record(said("false alarm", level, "nothing to see"));
            assert!(kept.words_kept);
            assert_eq!(words(), ("SQL injection".to_owned(), "flows into SQL".to_owned()));
        }
        assert!(!record(said("SQL injection", Level::Critical, "flows into SQL")).words_kept);
        world.check();
    }
    // The reviewer itself may.
    let world = World::new();
    let by_reviewer = |title: &str| claim(Level::High, title).with_id(Some("k1".parse().unwrap()));
    for title in ["one", "two"] {
        world.at(1, |ledger| ledger.attest(attested(&world.plan), &[by_reviewer(title)])).unwrap();
    }
    assert_eq!(world.at(2, |ledger| ledger.finding("plan-1", "k1")).unwrap().1.title, "two");
}

#[test]
fn a_report_raises_a_finding_and_never_lowers_it() {
    for agent in ["sec", "coder"] {
        let world = World::new();
        let by = |level, place| {
            let claim = Claim::new(level, "t", agent).unwrap().with_id(Some("k1".parse().unwrap()));
            claim.with_evidence([at(place)]).unwrap().with_rationale("never mind").unwrap()
        };
        let first = claim(Level::High, "t").with_id(Some("k1".parse().unwrap()));
        let first = first.with_evidence([at("a.py:1")]).unwrap();
        world.at(1, |ledger| ledger.attest(attested(&world.plan), &[first])).unwrap();
        let low = world.at(2, |ledger| ledger.record(&world.plan, &by(Level::Low, "b.py:7"))).unwrap();
        assert_eq!((low.change, low.level, low.open), (Change::Kept, Level::High, true));
        let (_, finding) = world.at(3, |ledger| ledger.finding("plan-1", "k1")).unwrap();
        assert_eq!((finding.level, finding.rationale.as_str()), (Level::High, ""));
        assert_eq!(finding.evidence, [at("a.py:1")]);
        // A waiver that ends must not find it lowered.
        world
            .at(4, |ledger| {
                ledger.rule("plan-1", "k1", Verb::AcceptRisk, "ann", "for now", Some(Timestamp(10)))
            })
            .unwrap();
        let batch = [by(Level::Medium, "b.py:7")];
        let waived = world.at(5, |ledger| ledger.record_all(&world.plan, &batch)).unwrap();
        assert_eq!(
            waived.first().map(|recorded| (recorded.change, recorded.open)),
            Some((Change::Kept, false))
        );
        assert_eq!(world.at(11, |ledger| ledger.verdict("plan-1")).unwrap().level(), Level::High);
        let up = world.at(12, |ledger| ledger.record(&world.plan, &by(Level::Critical, "b.py:7"))).unwrap();
        assert_eq!((up.change, up.level), (Change::Raised, Level::Critical));
        let (_, finding) = world.at(13, |ledger| ledger.finding("plan-1", "k1")).unwrap();
        assert_eq!((finding.agent.as_str(), finding.level), ("sec", Level::Critical));
        assert_eq!(finding.evidence, [at("a.py:1"), at("b.py:7")], "no place is taken away");
        world.check();
    }
}

#[test]
fn a_reviewer_lowers_its_own_finding_in_a_council_and_a_person_any() {
    let world = World::new();
    let by = |agent: &str, level| Claim::new(level, "t", agent).unwrap().with_id(Some("k1".parse().unwrap()));
    let convene = |when, claim| {
        let recorded = world.at(when, |ledger| ledger.attest(attested(&world.plan), &[claim])).unwrap();
        recorded.first().map(|recorded| (recorded.change, recorded.level)).unwrap()
    };
    assert_eq!(convene(1, by("sec", Level::Critical)), (Change::New, Level::Critical));
    assert_eq!(convene(2, by("style", Level::Low)), (Change::Kept, Level::Critical));
    assert_eq!(convene(3, by("sec", Level::High)), (Change::Lowered, Level::High));
    let lower =
        |level, by: &str, reason: &str| world.at(4, |ledger| ledger.lower("plan-1", "k1", level, by, reason));
    assert!(lower(Level::Low, "sec", "mine").unwrap_err().to_string().contains("somebody else has to"));
    assert!(lower(Level::Low, "ann", " ").unwrap_err().to_string().contains("a reason"));
    assert_eq!(lower(Level::High, "ann", "same").unwrap(), None);
    assert_eq!(lower(Level::Low, "ann", "test code").unwrap().map(|finding| finding.level), Some(Level::Low));
    assert_eq!(world.summary(), (Level::Low, "1 finding(s): 1 low".to_owned()));
    world.check();
}

#[test]
fn a_batch_is_recorded_as_a_whole_or_not_at_all() {
    let world = World::new();
    world.at(1, |ledger| ledger.record(&world.plan, &claim(Level::High, "t"))).unwrap();
    let batch = [claim(Level::Critical, "new"), claim(Level::Low, "t")];
    let recorded = world.at(2, |ledger| ledger.record_all(&world.plan, &batch)).unwrap();
    let changes: Vec<_> = recorded.iter().map(|recorded| recorded.change).collect();
    assert_eq!(changes, [Change::New, Change::Kept]);
    assert_eq!(world.summary().1, "2 finding(s): 1 critical, 1 high");
    world.check();
}

#[test]
fn shortened_names_are_resolved_or_refused() {
    let world = World::new();
    for plan in ["abc123", "abc456", "xyz"] {
        world.at(1, |ledger| ledger.record(&plan.parse().unwrap(), &claim(Level::Low, "t"))).unwrap();
    }
    assert_eq!(world.at(2, |ledger| ledger.find_plan("x")).unwrap().as_str(), "xyz");
    assert_eq!(world.at(2, |ledger| ledger.find_plan("abc1")).unwrap().as_str(), "abc123");
    let error = world.at(2, |ledger| ledger.find_plan("abc")).unwrap_err();
    assert_eq!(error.to_string(), "`abc` is ambiguous: it could be abc123, abc456; type more of it");
    assert_eq!(world.at(2, |ledger| ledger.find_plan("q")).unwrap_err().to_string(), "No verdict for plan q");
    // An exact name wins over longer names with this prefix.
    world.at(3, |ledger| ledger.record(&"abc".parse().unwrap(), &claim(Level::Low, "t"))).unwrap();
    assert_eq!(world.at(4, |ledger| ledger.find_plan("abc")).unwrap().as_str(), "abc");
}

#[test]
fn repositories_in_one_store_do_not_meet() {
    let world = World::new();
    world.at(1, |ledger| ledger.record(&world.plan, &claim(Level::Critical, "t"))).unwrap();
    let other = RepositoryId::of(std::path::Path::new("/other/.git"));
    let clock = FixedClock(Timestamp(2));
    let ledger = Ledger::new(&world.store, &other, &clock);
    assert!(ledger.verdict("plan-1").is_err());
    assert_eq!(ledger.retro(10, Level::Low).unwrap(), []);
    ledger.open_findings(Level::Low, |_, _, _, _| panic!("there are none")).unwrap();
    ledger.record(&world.plan, &claim(Level::Low, "t")).unwrap();
    assert_eq!(world.summary().0, Level::Critical);
    assert_eq!(ledger.verify().unwrap(), []);
    world.check();
}

#[test]
fn retro_lists_the_last_changed_first() {
    let world = World::new();
    let plan = |name: &str| name.parse::<PlanHash>().unwrap();
    for (at, name, level) in [(1, "a", Level::Low), (3, "b", Level::Critical), (2, "c", Level::High)] {
        world.at(at, |ledger| ledger.record(&plan(name), &claim(level, "t"))).unwrap();
    }
    let retro = |limit, level| {
        let recent = world.at(9, |ledger| ledger.retro(limit, level)).unwrap();
        recent.iter().map(|entry| entry.plan.to_string()).collect::<String>()
    };
    assert_eq!(retro(10, Level::Low), "bca");
    assert_eq!(retro(2, Level::Low), "bc");
    assert_eq!(retro(0, Level::Low), "");
    assert_eq!(retro(10, Level::High), "bc");
    assert_eq!(retro(10, Level::Critical), "b");
    // A clock that went back does not push a plan down.
    world.at(0, |ledger| ledger.record(&plan("b"), &claim(Level::Low, "u"))).unwrap();
    assert_eq!(retro(1, Level::Low), "b");
    assert_eq!(text::retro(&[], Level::Low), "[retro] no verdicts yet.\n");
    world.check();
}

#[test]
fn what_was_changed_behind_the_ledgers_back_is_found() {
    let world = World::new();
    world.at(1, |ledger| ledger.record(&world.plan, &claim(Level::Critical, "t"))).unwrap();
    let key = super::Rows(&world.repository).plan(&world.plan);
    let row = world.store.view(|view| view.get(Space::Plan, &key)).unwrap().unwrap();
    let forged = String::from_utf8(row).unwrap().replace("\"critical\":1", "\"critical\":0");
    world.store.update(Durability::Process, |tx| tx.put(Space::Plan, &key, forged.as_bytes())).unwrap();
    let found = world.at(2, |ledger| ledger.verify()).unwrap();
    assert_eq!(found.len(), 1, "{found:?}");
    assert_eq!(found[0].what, "changed");
}

#[test]
fn a_damaged_row_is_an_error_and_not_an_absence() {
    let world = World::new();
    let id = world.at(1, |ledger| ledger.record(&world.plan, &claim(Level::Critical, "t"))).unwrap().id;
    let key = super::Rows(&world.repository).finding(&world.plan, &id);
    world.store.update(Durability::Process, |tx| tx.put(Space::Finding, &key, b"{\"id\":")).unwrap();
    assert!(matches!(world.at(2, |ledger| ledger.verdict("plan-1")), Err(LedgerError::Corrupt { .. })));
    let again = world.at(3, |ledger| ledger.record(&world.plan, &claim(Level::Low, "t")));
    assert!(matches!(again, Err(LedgerError::Corrupt { .. })));
}

#[test]
fn a_call_for_a_council_waits_until_it_is_answered() {
    let world = World::new();
    let waiting = |council: &str| {
        let summons = world.at(0, |ledger| ledger.summons(council)).unwrap();
        summons.into_iter().map(|summons| (summons.seq, summons.saved)).collect::<Vec<_>>()
    };
    let saved = |file: &str| vec![file.to_owned()];
    for (council, file) in [("a", "x"), ("b", "y"), ("a", "z")] {
        world.at(0, |ledger| ledger.summon(council, "file-save", &saved(file))).unwrap();
    }
    assert_eq!(waiting("a"), [(1, saved("x")), (3, saved("z"))]);
    // Later summons wait for the next answer, and other councils have their own.
    world.at(0, |ledger| ledger.answer("a", 1, &Answer::Looked(world.plan.clone()))).unwrap();
    assert_eq!((waiting("a"), waiting("b")), (vec![(3, saved("z"))], vec![(2, saved("y"))]));
    world.at(0, |ledger| ledger.answer("a", 3, &Answer::Not("nothing to look at".to_owned()))).unwrap();
    assert_eq!(waiting("a"), []);
    world.check();
}

#[test]
fn a_place_whose_name_is_not_kept_is_bound_to_nothing() {
    let world = World::new();
    let bound = |file: &str| Evidence {
        bound: Some(Bound { blob: "b".to_owned(), snippet: None }),
        ..Evidence::file(file)
    };
    let places = [bound("a.py"), bound("AKIAABCDEFGHIJKLMNOP.py")];
    let claim = claim(Level::High, "t").with_evidence(places).unwrap();
    let id = world.at(1, |ledger| ledger.record(&world.plan, &claim)).unwrap().id;
    let (_, finding) = world.at(1, |ledger| ledger.finding("plan-1", id.as_str())).unwrap();
    assert_eq!(finding.evidence, [bound("a.py"), Evidence::file("[redacted]")]);
    world.check();
}
