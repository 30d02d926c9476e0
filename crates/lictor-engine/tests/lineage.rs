//! Usage of subagents counts for all their parents, in any order of events.

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;
    use std::sync::Arc;

    use lictor_engine::{
        Action, Answer, Claim, Context, Decision, Digest, Facts, FixedClock, MemoryStore, Outcome,
        PolicyEngine, SessionEvent, SessionKey, SessionState, Store, Timestamp, Verdict, guard_fn, log,
    };
    use lictor_store::{Query, StoreExt as _};
    use proptest::prelude::*;

    /// Each session with the one that started it.
    const TREE: [(&str, Option<&str>); 5] =
        [("root", None), ("a", Some("root")), ("b", Some("root")), ("aa", Some("a")), ("ab", Some("a"))];
    const LIMIT: u64 = 60;

    #[derive(Debug, Clone)]
    enum Step {
        Judge { session: usize, word: &'static str, amount: u64 },
        Answer { question: usize, yes: bool },
        Over { call: usize },
        End { session: usize },
    }

    fn step() -> impl Strategy<Value = Step> {
        let session = 0..TREE.len();
        let word = prop_oneof![3 => Just("pass"), 3 => Just("ask"), 1 => Just("block")];
        prop_oneof![
            6 => (session.clone(), word, 0..4_u64)
                .prop_map(|(session, word, amount)| Step::Judge { session, word, amount }),
            3 => (0..8_usize, any::<bool>()).prop_map(|(question, yes)| Step::Answer { question, yes }),
            3 => (0..8_usize).prop_map(|call| Step::Over { call }),
            1 => session.prop_map(|session| Step::End { session }),
        ]
    }

    fn key(id: &str) -> SessionKey {
        SessionKey { agent: String::new(), id: id.to_owned() }
    }

    fn engine(store: Arc<dyn Store>) -> PolicyEngine {
        let guard = guard_fn("spending", |action: &Action, context: &mut Context<'_>| {
            let mut words = action.text("command").unwrap_or_default().split(' ');
            let (word, amount) = (words.next(), words.next().and_then(|word| word.parse().ok()));
            let claim =
                Claim::Spend { budget: "calls".to_owned(), amount: amount.unwrap_or(0), limit: LIMIT };
            match word {
                _ if !context.claim(claim) => Verdict::block("used up", "stop"),
                Some("pass") => Verdict::pass(),
                Some("ask") => Verdict::ask("sure?"),
                _ => Verdict::block("no", "stop"),
            }
        });
        PolicyEngine::builder(guard)
            .shared_store(store)
            .clock(FixedClock(Timestamp(1)))
            .facts(|_: &Action| Facts::none())
            .policy_digest(Digest::of(b"policy"))
            .build()
            .unwrap()
    }

    fn is_within(mut id: &str, above: &str) -> bool {
        loop {
            if id == above {
                return true;
            }
            match TREE.iter().find(|(known, _)| *known == id).and_then(|(_, parent)| *parent) {
                Some(parent) => id = parent,
                None => return false,
            }
        }
    }

    /// Every session by its own events alone, as if it had no subagents.
    fn alone(store: &dyn Store) -> BTreeMap<SessionKey, SessionState> {
        let records = store.view(|view| view.records(&Query::all().limit(10_000))).unwrap();
        let mut states: BTreeMap<SessionKey, SessionState> = BTreeMap::new();
        for record in &records {
            let Ok(body) = serde_json::from_str::<serde_json::Value>(&record.body) else { continue };
            let Ok(event) = serde_json::from_value::<SessionEvent>(body["event"].clone()) else { continue };
            let session = record.session.clone().unwrap();
            states.entry(session).or_default().apply(&event, record.at);
        }
        let folded = log::sessions(&records);
        assert_eq!(folded.len(), states.len());
        states
    }

    fn run(steps: &[Step]) {
        let store: Arc<dyn Store> = Arc::new(MemoryStore::new());
        let engine = engine(Arc::clone(&store));
        // A session above must have begun before those below it.
        for (id, parent) in TREE {
            match parent {
                None => drop(engine.begin(&key(id)).unwrap()),
                Some(parent) => {
                    drop(engine.delegate(&key(parent), &key(id), lictor_engine::Limit::default()).unwrap())
                }
            }
        }
        let (mut questions, mut under_way) = (Vec::new(), Vec::new());
        for (number, step) in steps.iter().enumerate() {
            match step {
                Step::Judge { session, word, amount } => {
                    let (id, parent) = TREE[*session];
                    let mut action = Action::bash(format!("{word} {amount} {number}")).in_session(id);
                    action.parent_session = parent.map(key);
                    action.tool_use_id = Some(format!("call-{number}"));
                    let evaluation = engine.evaluate(&action);
                    match evaluation.decision {
                        Decision::Ask => questions.push((action, evaluation)),
                        _ => under_way.push(action),
                    }
                }
                Step::Answer { question, yes } if !questions.is_empty() => {
                    let (action, evaluation) = questions.remove(question % questions.len());
                    let mut say = |asked: &[lictor_engine::Question<'_>]| -> Vec<Answer> {
                        asked.iter().map(|_| if *yes { Answer::yes() } else { Answer::no() }).collect()
                    };
                    let _ = engine.resolve(&action, evaluation, Some(&mut say));
                    under_way.push(action);
                }
                Step::Over { call } if !under_way.is_empty() => {
                    let action = under_way.remove(call % under_way.len());
                    engine.post_action(&action, Outcome::success()).unwrap();
                }
                Step::End { session } => drop(engine.end(&key(TREE[*session].0)).unwrap()),
                Step::Answer { .. } | Step::Over { .. } => {}
            }
            // Refolding the whole log is slow, and an error would persist, so not every step is checked.
            if number % 13 != 0 && number + 1 != steps.len() {
                continue;
            }
            let alone = alone(&*store);
            for (above, _) in TREE {
                let all = engine.session(&key(above)).unwrap();
                let own = |id: &str| &alone[&key(id)];
                let sum = |of: &dyn Fn(&SessionState) -> u64| -> u64 {
                    TREE.iter().filter(|(id, _)| is_within(id, above)).map(|(id, _)| of(own(id))).sum()
                };
                assert_eq!(all.used("calls"), sum(&|state| state.used("calls")), "{above} after {step:?}");
                assert_eq!(all.action_count, sum(&|state| state.action_count), "{above} after {step:?}");
                assert_eq!(all.block_count, sum(&|state| state.block_count), "{above} after {step:?}");
                assert_eq!(all.success_count, sum(&|state| state.success_count), "{above} after {step:?}");
                assert!(all.used("calls") <= LIMIT, "{above} after {step:?}");
            }
        }
    }

    #[test]
    fn a_no_to_a_subagent_gives_back_all_the_way_up() {
        run(&[
            Step::Judge { session: 3, word: "ask", amount: 3 },
            Step::Judge { session: 2, word: "ask", amount: 2 },
            Step::Answer { question: 0, yes: false },
            Step::End { session: 2 },
        ]);
    }

    proptest! {
        #![proptest_config(ProptestConfig { cases: 192, failure_persistence: None, ..ProptestConfig::default() })]

        #[test]
        fn counters_of_an_agent_are_the_sum_over_all_below_it(steps in prop::collection::vec(step(), 0..40)) {
            run(&steps);
        }
    }
}
