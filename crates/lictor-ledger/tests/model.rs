//! The ledger against a simple model, over random histories; and its projection against its log.
#![expect(clippy::unwrap_used, reason = "helpers of tests fail by panicking")]

use std::collections::BTreeMap;

use lictor_core::{FixedClock, Timestamp};
use lictor_ledger::ledger::Verb;
use lictor_ledger::{Claim, Ledger, Level, PlanHash, RepositoryId};
use lictor_store::MemoryStore;
use proptest::prelude::*;

#[derive(Debug, Clone)]
enum Op {
    Record { plan: u8, id: u8, agent: u8, level: Level },
    Clear { plan: u8, id: u8 },
    Waive { plan: u8, id: u8, by: u8, hours: Option<u8> },
    Reopen { plan: u8, id: u8 },
    Wait { hours: u8 },
}

fn op() -> impl Strategy<Value = Op> {
    let level = prop_oneof![Just(Level::Low), Just(Level::Medium), Just(Level::High), Just(Level::Critical)];
    let (plan, id) = (0..2_u8, 0..4_u8);
    prop_oneof![
        5 => (plan.clone(), id.clone(), 0..2_u8, level)
            .prop_map(|(plan, id, agent, level)| Op::Record { plan, id, agent, level }),
        2 => (plan.clone(), id.clone()).prop_map(|(plan, id)| Op::Clear { plan, id }),
        2 => (plan.clone(), id.clone(), 0..3_u8, proptest::option::of(1..5_u8))
            .prop_map(|(plan, id, by, hours)| Op::Waive { plan, id, by, hours }),
        1 => (plan, id).prop_map(|(plan, id)| Op::Reopen { plan, id }),
        1 => (1..5_u8).prop_map(|hours| Op::Wait { hours }),
    ]
}

#[derive(Debug, Clone, Copy, PartialEq)]
enum Status {
    Open,
    Fixed,
    Waived { until: Option<i64> },
}

/// The expected state of the ledger, without tables, indexes or events.
#[derive(Default)]
struct Model {
    now: i64,
    findings: BTreeMap<(u8, u8), (u8, Level, Status)>,
    /// Waivers hold for an author and title in every plan, up to a level.
    waivers: BTreeMap<(u8, u8), (Level, Option<i64>)>,
}

impl Model {
    /// Waivers that have ended. The ledger notices when it is asked, the model at once.
    fn end_waivers(&mut self) {
        for ((_, id), (author, _, status)) in &mut self.findings {
            if matches!(status, Status::Waived { until: Some(until) } if *until <= self.now) {
                *status = Status::Open;
                self.waivers.remove(&(*author, *id));
            }
        }
    }

    /// Whether the ledger has to accept it.
    fn apply(&mut self, op: &Op) -> bool {
        match *op {
            Op::Record { plan, id, agent, level } => {
                let old = self.findings.get(&(plan, id)).copied();
                let level = match old {
                    Some((_, was, Status::Open | Status::Waived { .. })) => level.max(was),
                    _ => level,
                };
                let author = old.map_or(agent, |(author, ..)| author);
                let status = match self.waivers.get(&(author, id)) {
                    Some((up_to, until)) if level <= *up_to => Status::Waived { until: *until },
                    _ => Status::Open,
                };
                self.findings.insert((plan, id), (author, level, status));
                true
            }
            Op::Clear { plan, id } => {
                if let Some((_, _, status)) = self.findings.get_mut(&(plan, id)) {
                    *status = Status::Fixed;
                }
                true
            }
            Op::Waive { plan, id, by, hours } => {
                let until = hours.map(|hours| self.now + i64::from(hours));
                match self.findings.get_mut(&(plan, id)) {
                    Some((author, level, status)) if *author != by => {
                        *status = Status::Waived { until };
                        self.waivers.insert((*author, id), (*level, until));
                        true
                    }
                    _ => false,
                }
            }
            Op::Reopen { plan, id } => match self.findings.get_mut(&(plan, id)) {
                Some((author, _, status)) => {
                    *status = Status::Open;
                    self.waivers.remove(&(*author, id));
                    true
                }
                None => false,
            },
            Op::Wait { hours } => {
                self.now += i64::from(hours);
                true
            }
        }
    }

    fn open(&self, plan: u8) -> Vec<(String, Level)> {
        let of_plan =
            self.findings.iter().filter(|((of, _), (.., status))| *of == plan && *status == Status::Open);
        of_plan.map(|((_, id), (_, level, _))| (format!("k{id}"), *level)).collect()
    }
}

fn plan_name(plan: u8) -> PlanHash {
    format!("plan-{plan}").parse().unwrap()
}

fn apply(ledger: &Ledger<'_>, op: &Op) -> bool {
    let plan = |plan: u8| plan_name(plan).to_string();
    let id = |id: u8| format!("k{id}");
    let agent = |agent: u8| format!("agent-{agent}");
    match *op {
        Op::Record { plan, id: key, agent: by, level } => {
            let claim = Claim::new(level, format!("t{key}"), agent(by)).unwrap();
            ledger.record(&plan_name(plan), &claim.with_id(Some(id(key).parse().unwrap()))).is_ok()
        }
        // The model ignores missing plans.
        Op::Clear { plan: of, id: key } => {
            let _ = ledger.clear(&plan(of), &id(key), "ann", "");
            true
        }
        Op::Waive { plan: of, id: key, by, hours } => {
            let until = hours.map(|hours| ledger.now().plus_millis(i64::from(hours)));
            ledger.rule(&plan(of), &id(key), Verb::AcceptRisk, &agent(by), "because", until).is_ok()
        }
        Op::Reopen { plan: of, id: key } => {
            ledger.rule(&plan(of), &id(key), Verb::Reopen, "ann", "", None).is_ok()
        }
        Op::Wait { .. } => true,
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn the_ledger_is_its_model(ops in prop::collection::vec(op(), 1..40)) {
        let store = MemoryStore::new();
        let repository = RepositoryId::of(std::path::Path::new("/r"));
        let mut model = Model::default();
        for op in &ops {
            let clock = FixedClock(Timestamp(model.now));
            let ledger = Ledger::new(&store, &repository, &clock);
            let accepted = apply(&ledger, op);
            prop_assert_eq!(accepted, model.apply(op), "{:?}", op);
            model.end_waivers();
            let clock = FixedClock(Timestamp(model.now));
            let ledger = Ledger::new(&store, &repository, &clock);
            for plan in 0..2 {
                let Ok(verdict) = ledger.verdict(plan_name(plan).as_str()) else { continue };
                let mut open: Vec<(String, Level)> =
                    verdict.open.iter().map(|finding| (finding.id.to_string(), finding.level)).collect();
                open.sort();
                prop_assert_eq!(&open, &model.open(plan));
                let level = open.iter().map(|(_, level)| *level).max().unwrap_or(Level::Low);
                prop_assert_eq!(verdict.level(), level);
                let recent = ledger.retro(10, Level::Low).unwrap();
                let entry = recent.iter().find(|entry| entry.plan == plan_name(plan)).unwrap();
                prop_assert_eq!(entry.tally, verdict.tally());
            }
        }
        let clock = FixedClock(Timestamp(model.now));
        prop_assert_eq!(Ledger::new(&store, &repository, &clock).verify().unwrap(), vec![]);
    }
}
