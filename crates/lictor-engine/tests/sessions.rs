//! Sessions through the store: subagents count for their root, scopes narrow, the projection is the fold of the log.

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};
    use std::sync::{Arc, Barrier};

    use lictor_engine::event::Continuation;
    use lictor_engine::facts::{Access, Effect, Existence, Place};
    use lictor_engine::tools::ReadBeforeWrite;
    use lictor_engine::{
        Action, ActionKind, All, Claim, Decision, Digest, Facts, FixedClock, Limit, MemoryStore, Mode,
        Outcome, PolicyEngine, SessionKey, Standing, Store, Timestamp, Verdict, guard_fn, log,
    };
    use lictor_store::{Query, Space, StoreExt};

    fn key(id: &str) -> SessionKey {
        SessionKey { agent: String::new(), id: id.to_owned() }
    }

    fn engine(root: impl Into<lictor_engine::Node>) -> PolicyEngine {
        PolicyEngine::builder(root)
            .clock(FixedClock(Timestamp(1000)))
            .facts(|_: &Action| Facts::none())
            .build()
            .unwrap()
    }

    fn budget(limit: u64) -> impl lictor_engine::Guard {
        guard_fn("budget", move |_, context| {
            let claim = Claim::Spend { budget: "calls".to_owned(), amount: 1, limit };
            if context.claim(claim) {
                Verdict::pass()
            } else {
                Verdict::block("no calls left", "report and stop")
            }
        })
    }

    fn child_of(parent: &str, id: &str) -> Action {
        let mut action = Action::bash("ls").in_session(id);
        action.parent_session = Some(key(parent));
        action
    }

    #[test]
    fn a_budget_allows_exactly_its_limit() {
        let engine = engine(budget(3));
        let decisions: Vec<_> =
            (0..5).map(|_| engine.evaluate(&Action::bash("ls").in_session("s")).decision).collect();
        assert_eq!(
            decisions,
            [Decision::Pass, Decision::Pass, Decision::Pass, Decision::Block, Decision::Block]
        );
        assert_eq!(engine.session(&key("s")).unwrap().used("calls"), 3);
    }

    #[test]
    fn what_subagents_use_is_used_for_their_root_and_for_each_other() {
        let engine = engine(budget(3));
        assert!(engine.evaluate(&Action::bash("ls").in_session("root")).passed());
        assert!(engine.evaluate(&child_of("root", "one")).passed());
        assert!(engine.evaluate(&child_of("one", "two")).passed());
        assert!(!engine.evaluate(&child_of("root", "three")).passed(), "the root has nothing left");
        assert!(!engine.evaluate(&Action::bash("ls").in_session("root")).passed());
        let root = engine.session(&key("root")).unwrap();
        assert_eq!((root.action_count, root.block_count, root.used("calls")), (5, 2, 3));
        let one = engine.session(&key("one")).unwrap();
        assert_eq!((one.action_count, one.used("calls")), (2, 2), "its own and its child's");
    }

    #[test]
    fn only_the_first_word_about_a_parent_is_believed() {
        let engine = engine(budget(100));
        let _ = engine.evaluate(&child_of("root", "child"));
        let _ = engine.evaluate(&Action::bash("ls").in_session("child"));
        assert_eq!(
            engine.session(&key("root")).unwrap().action_count,
            2,
            "leaving the parent out changes nothing"
        );
        let _ = engine.evaluate(&child_of("elsewhere", "child"));
        assert_eq!(engine.session(&key("root")).unwrap().action_count, 3);
        assert_eq!(engine.session(&key("elsewhere")).unwrap().action_count, 0);
    }

    #[test]
    fn a_session_among_its_own_parents_is_refused() {
        let engine = engine(budget(100));
        let _ = engine.evaluate(&child_of("b", "a"));
        let result = engine.evaluate(&child_of("a", "b"));
        assert_eq!(result.decision, Decision::Block);
        assert!(result.reason().contains("among its own parents"), "{}", result.reason());
    }

    #[test]
    fn a_subagent_keeps_to_a_scope_within_its_parents() {
        let engine = engine(budget(100));
        let only = |kinds: &[ActionKind]| Limit { kinds: Some(kinds.to_vec()), ..Limit::default() };
        engine.delegate(&key("root"), &key("a"), only(&[ActionKind::Bash])).unwrap();
        engine.delegate(&key("a"), &key("b"), only(&[ActionKind::Bash, ActionKind::Write])).unwrap();
        let write = |id: &str| engine.evaluate(&Action::write("x").in_session(id));
        assert!(engine.evaluate(&Action::bash("ls").in_session("b")).passed());
        assert_eq!(write("b").decision, Decision::Block, "the child asked for more than its parent has");
        assert!(write("b").reason().contains("outside the scope"));
        assert!(write("root").passed());
        // A session without `delegate` gets its parent's scope.
        let mut silent = Action::write("x").in_session("c");
        silent.parent_session = Some(key("a"));
        assert_eq!(engine.evaluate(&silent).decision, Decision::Block);
        // A second `delegate` cannot widen it.
        engine.delegate(&key("root"), &key("a"), Limit::default()).unwrap();
        assert_eq!(write("a").decision, Decision::Block);
    }

    #[test]
    fn block_after_three_consecutive_sensitive_accesses() {
        let root = guard_fn("streak", |action, context| {
            if !action.text("command").is_some_and(|command| command.contains("secret")) {
                return Verdict::pass();
            }
            context.tag("sensitive");
            if context.claim(Claim::Streak { tag: "sensitive".to_owned(), at_most: 3 }) {
                Verdict::pass()
            } else {
                Verdict::block("three sensitive files in a row", "do something else first")
            }
        });
        let engine = engine(root);
        let run = |command: &str| engine.evaluate(&Action::bash(command).in_session("s")).passed();
        assert!(run("cat secret1") && run("cat secret2") && run("ls") && run("cat secret3"));
        assert!(run("cat secret4") && run("cat secret5"));
        assert!(!run("cat secret6"));
        assert!(!run("cat secret7"), "blocked attempts keep the streak");
        assert!(run("ls") && run("cat secret8"));
    }

    /// All actions are judged before any is recorded; only as many as the limit allows may pass.
    #[test]
    fn two_actions_at_once_cannot_both_take_the_last_place() {
        const WORKERS: usize = 8;
        let meeting = Arc::new(Barrier::new(WORKERS));
        let root = guard_fn("budget", move |_, context| {
            let holds = context.claim(Claim::Actions { at_most: 3 });
            meeting.wait();
            if holds { Verdict::pass() } else { Verdict::block("used up", "stop") }
        });
        let engine = engine(root);
        let passed = AtomicUsize::new(0);
        std::thread::scope(|scope| {
            for worker in 0..WORKERS {
                let (engine, passed) = (&engine, &passed);
                scope.spawn(move || {
                    let mut action = Action::bash(format!("echo {worker}")).in_session("s");
                    action.tool_use_id = Some(format!("call-{worker}"));
                    let result = engine.evaluate(&action);
                    if result.passed() {
                        passed.fetch_add(1, Ordering::Relaxed);
                    } else {
                        assert!(
                            result.reason().contains("at the same time was the last of 3"),
                            "{}",
                            result.reason()
                        );
                    }
                });
            }
        });
        assert_eq!(passed.load(Ordering::Relaxed), 3);
    }

    #[test]
    fn fork_resume_and_end_through_the_store() {
        let engine = engine(budget(3));
        let ls = |id: &str| engine.evaluate(&Action::bash("ls").in_session(id)).passed();
        assert!(ls("a") && ls("a"));
        engine.post_action(&Action::bash("ls").in_session("a"), Outcome::success()).unwrap();
        engine.fork(&key("a"), &key("b")).unwrap();
        assert_eq!(engine.session(&key("b")).unwrap().action_count, 2);
        engine.continued(&key("a"), Continuation::Compact).unwrap();
        assert!(ls("a") && !ls("a"), "compaction gives nothing back");
        let ended = engine.end(&key("a")).unwrap();
        assert_eq!((ended.ended, ended.used("calls")), (true, 1), "only what was reported stays used");
    }

    #[test]
    fn one_call_through_two_hooks_counts_once() {
        let engine = engine(budget(100));
        let mut action = Action::bash("ls").in_session("s");
        action.tool_use_id = Some("t1".to_owned());
        let through = |dialect: &str| Mode { dialect: Some(dialect.into()), ..Mode::default() };
        assert_eq!(engine.evaluate_with(&action, through("claude-code")).session.action_count, 1);
        assert_eq!(engine.evaluate_with(&action, through("claude-code")).session.action_count, 1);
        action.tool_use_id = None;
        assert_eq!(engine.evaluate_with(&action, through("cursor")).session.action_count, 1);
        assert_eq!(
            engine.evaluate_with(&action, through("claude-code")).session.action_count,
            2,
            "a second call"
        );
    }

    #[test]
    fn observed_blocks_go_ahead_and_are_no_bypass() {
        let engine = engine(guard_fn("no", |_, _| Verdict::block("no", "yes")));
        let action = Action::bash("ls").in_session("s");
        let observed = engine.evaluate_with(&action, Mode { observe: true, ..Mode::default() });
        assert_eq!((observed.decision, observed.passed()), (Decision::Block, true));
        assert_eq!(engine.post_action(&action, Outcome::success()).unwrap(), Standing::Governed);
        assert_eq!(engine.session(&key("s")).unwrap().block_count, 1);
    }

    #[test]
    fn actions_without_a_session_have_nothing_in_common_but_are_accounted_for() {
        let engine = engine(All::new([guard_fn("first", |_, context| {
            if context.session().action_count == 0 {
                Verdict::pass()
            } else {
                Verdict::block("not first", "-")
            }
        })]));
        let ls = Action::bash("ls");
        assert_eq!(engine.evaluate(&ls).session.action_count, 1);
        assert_eq!(engine.evaluate(&ls).session.action_count, 1);
        assert_eq!(engine.post_action(&ls, Outcome::success()).unwrap(), Standing::Governed);
        assert_eq!(
            engine.post_action(&Action::bash("id"), Outcome::success()).unwrap(),
            Standing::Ungoverned
        );
    }

    #[test]
    fn what_is_kept_beside_the_log_is_the_fold_of_the_log() {
        let store: Arc<dyn Store> = Arc::new(MemoryStore::new());
        let engine = PolicyEngine::builder(budget(40))
            .shared_store(Arc::clone(&store))
            .clock(FixedClock(Timestamp(7)))
            .facts(|_: &Action| Facts::none())
            .build()
            .unwrap();
        let limit = Limit { kinds: Some(vec![ActionKind::Bash]), ..Limit::default() };
        engine.delegate(&key("root"), &key("sub"), limit).unwrap();
        for round in 0..60_u32 {
            let id = ["root", "sub", "leaf", "other"][round as usize % 4];
            let mut action = Action::bash(format!("echo {}", round % 7)).in_session(id);
            action.parent_session = (id == "leaf").then(|| key("sub"));
            action.tool_use_id = (round % 3 == 0).then(|| format!("call-{round}"));
            let _ = engine.evaluate_with(&action, Mode { dry: round % 11 == 0, ..Mode::default() });
            if round % 2 == 0 {
                engine.post_action(&action, Outcome::success()).unwrap();
            }
        }
        let _ = engine.evaluate(&Action::bash("nameless"));
        engine.fork(&key("sub"), &key("copy")).unwrap();
        engine.end(&key("other")).unwrap();
        let records = store.view(|view| view.records(&Query::all().limit(10_000))).unwrap();
        let folded = log::sessions(&records);
        assert_eq!(folded.len(), 6);
        for (session, state) in folded {
            assert_eq!(engine.session(&session).unwrap(), state, "{session}");
        }
    }

    /// `read X` and `write X`: files that exist and never change.
    fn touches(action: &Action) -> Facts {
        let command = action.payload.get("command").and_then(|command| command.as_str()).unwrap_or_default();
        let (how, path) = command.split_once(' ').unwrap();
        let access = if how == "read" { Access::Read } else { Access::Write };
        let content = Some(Digest::of(path.as_bytes()));
        let target = Place { existence: Existence::File, content, ..Place::project_file("/p", path) };
        Facts { effects: vec![Effect::File { access, target, recursive: false, by: None }], opaque: vec![] }
    }

    fn reader(store: &Arc<dyn Store>) -> PolicyEngine {
        PolicyEngine::builder(ReadBeforeWrite::new("read_before_write"))
            .shared_store(Arc::clone(store))
            .clock(FixedClock(Timestamp(7)))
            .facts(touches)
            .knows_files(true)
            .build()
            .unwrap()
    }

    fn state_row(store: &Arc<dyn Store>, id: &str) -> usize {
        let stored = store.view(|view| view.get(Space::Session, format!("0:{id}").as_bytes())).unwrap();
        stored.map_or(0, |stored| stored.len())
    }

    #[test]
    fn known_files_cost_an_event_what_it_is_about() {
        let store: Arc<dyn Store> = Arc::new(MemoryStore::new());
        let engine = reader(&store);
        let make = |command: String, id: &str| {
            let mut action = Action::bash(command).in_session(id);
            action.parent_session = (id == "sub").then(|| key("root"));
            let passed = engine.evaluate(&action).passed();
            if passed {
                engine.post_action(&action, Outcome::success()).unwrap();
            }
            passed
        };
        assert!(make("read 0".into(), "root"));
        let first = state_row(&store, "root");
        for number in 1..400 {
            assert!(make(format!("read {number}"), if number % 2 == 0 { "root" } else { "sub" }));
        }
        let last = state_row(&store, "root");
        assert!(last < first + 400, "{first} bytes with one known file, {last} with 400");
        assert!(make("write 0".into(), "root") && make("write 398".into(), "root"));
        assert!(make("write 399".into(), "root"), "a parent knows what its subagent read");
        assert!(!make("write 0".into(), "sub") && !make("write 400".into(), "root"));
        engine.fork(&key("root"), &key("copy")).unwrap();
        assert!(make("write 3".into(), "copy") && !make("write 3".into(), "other"));
        let records = store.view(|view| view.records(&Query::all().limit(10_000))).unwrap();
        for (session, state) in log::sessions(&records) {
            assert_eq!(engine.session(&session).unwrap(), state, "{session}");
        }
    }

    #[test]
    fn a_call_that_comes_again_can_be_answered_as_before() {
        let asked = AtomicUsize::new(0);
        let engine = engine(guard_fn("once", move |_, _| match asked.fetch_add(1, Ordering::Relaxed) {
            0 => Verdict::ask("really?"),
            _ => Verdict::block("not twice", "ask first"),
        }));
        let mut call = Action::bash("make deploy").in_session("s");
        assert!(engine.judged(&call).unwrap().is_none(), "a call without an id is never the same");
        call.tool_use_id = Some("t1".to_owned());
        assert!(engine.judged(&call).unwrap().is_none());
        let given = engine.evaluate(&call);
        assert_eq!(
            engine.judged(&call).unwrap().map(|known| (known.id, known.decision)),
            Some((given.id, Decision::Ask))
        );
        let answered = engine.resolve(&call, given, Some(&mut |_| vec![lictor_engine::Answer::yes()]));
        assert_eq!(engine.judged(&call).unwrap().unwrap().decision, answered.decision);
        for other in ["t2", "t1"] {
            let mut action = Action::bash("make clean").in_session("s");
            action.tool_use_id = Some(other.to_owned());
            assert!(engine.judged(&action).unwrap().is_none(), "{other}");
        }
    }
}
