//! Extensions in code: providers, checkers, tool policies, guards with outcomes, tracers, governed calls.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use lictor_engine::completion::{Checked, Completion, Stop};
use lictor_engine::feedback::{Feedback, Said, Trigger};
use lictor_engine::tools::{ToolCall, ToolDecision, ToolGuard, ToolPolicy};
use lictor_engine::{
    Action, Answer, Checker, CollectingTracer, Companion, CompletionContext, Context, Decision,
    FeedbackContext, FeedbackProvider, Governed, Guard, GuardMemory, MemoryStore, Mode, Outcome,
    PolicyEngine, Prompt, SessionKey, Standing, Verdict, action_guard, governed, guard_fn,
};
use lictor_store::{Query, StoreExt as _};
use serde_json::json;

fn key(id: &str) -> SessionKey {
    SessionKey { agent: String::new(), id: id.to_owned() }
}

fn passing() -> impl Guard {
    action_guard("any", |_| Verdict::pass())
}

fn tool(name: &str) -> Action {
    let mut action = Action::new(lictor_engine::ActionKind::Tool, serde_json::Map::new()).in_session("s");
    action.tool = name.to_owned();
    action
}

struct TestsFirst;

impl ToolPolicy for TestsFirst {
    fn name(&self) -> &str {
        "tests_first"
    }

    fn check(&self, call: &ToolCall<'_>) -> ToolDecision {
        if call.tool() == "deploy" && call.recall("tested") != Some(json!(true)) {
            return ToolDecision::deny("`deploy` requires `test` first").with_fix("run `test`");
        }
        ToolDecision::Allow
    }

    fn on_result(&self, call: &ToolCall<'_>, outcome: &Outcome, memory: &mut GuardMemory<'_>) {
        match call.tool() {
            "test" => {
                memory.remember("tested", outcome.success);
            }
            "edit" => memory.forget("tested"),
            _ => {}
        }
    }
}

#[test]
fn a_tool_policy_learns_from_results_and_belongs_to_its_session() {
    let store = Arc::new(MemoryStore::new());
    // A new engine for every step: nothing is kept in the process.
    let engine = || {
        let builder = PolicyEngine::builder(ToolGuard::new(TestsFirst));
        builder.shared_store(Arc::<MemoryStore>::clone(&store)).build().unwrap()
    };
    let happen = |name: &str, outcome: Outcome| {
        let action = tool(name);
        assert!(engine().evaluate(&action).passed());
        engine().post_action(&action, outcome).unwrap();
    };
    let deploy = || engine().evaluate(&tool("deploy"));
    assert_eq!(deploy().reason(), "`deploy` requires `test` first");
    assert_eq!(deploy().fix(), "run `test`");
    happen("test", Outcome::failure("1 test failed"));
    assert!(!deploy().passed());
    happen("test", Outcome::success());
    assert!(deploy().passed());
    let other = tool("deploy").in_session("another");
    assert!(!engine().evaluate(&other).passed());
    happen("edit", Outcome::success());
    assert!(!deploy().passed());
    // State is a fold of the log: what was remembered is in it.
    let records = store.view(|view| view.records(&Query::all())).unwrap();
    let folded = lictor_engine::log::sessions(&records);
    assert_eq!(folded.get(&key("s")).unwrap().memory, engine().session(&key("s")).unwrap().memory);
    // A reset clears it.
    happen("test", Outcome::success());
    engine().reset(&key("s")).unwrap();
    assert!(!deploy().passed());
}

#[test]
fn a_guard_remembers_while_it_judges() {
    let second = guard_fn("second", |_: &Action, context: &mut Context<'_>| {
        let seen = context.recall("seen").and_then(serde_json::Value::as_u64).unwrap_or(0);
        context.remember("seen", seen + 1);
        if seen >= 1 { Verdict::block("only once", "stop") } else { Verdict::pass() }
    });
    let engine = PolicyEngine::new(second).unwrap();
    let call = || engine.evaluate(&Action::bash("ls").in_session("s")).decision;
    assert_eq!([call(), call()], [Decision::Pass, Decision::Block]);
    let dry = Mode { dry: true, ..Mode::default() };
    let _ = engine.evaluate_with(&Action::bash("ls").in_session("dry"), dry);
    assert!(engine.session(&key("dry")).unwrap().memory.is_empty());
}

#[test]
fn a_guard_that_remembers_too_much_is_an_error() {
    let greedy = guard_fn("greedy", |_: &Action, context: &mut Context<'_>| {
        context.remember("all", "x".repeat(10_000));
        Verdict::pass()
    });
    let engine = PolicyEngine::new(greedy).unwrap();
    assert_eq!(engine.evaluate(&Action::bash("ls").in_session("s")).decision, Decision::Block);
}

struct Watching {
    asked: Arc<AtomicUsize>,
}

impl FeedbackProvider for Watching {
    fn name(&self) -> &str {
        "watching"
    }

    fn should_run(&self, context: &FeedbackContext<'_>) -> bool {
        self.asked.fetch_add(1, Ordering::Relaxed);
        context.session().failure_count > 0
    }

    fn provide(&self, context: &FeedbackContext<'_>) -> Result<Option<Feedback>, String> {
        let calls = context.recent_calls(2);
        let tools: Vec<String> = calls
            .iter()
            .map(|call| format!("{}:{}", call.tool, call.outcome.as_ref().is_some_and(|o| o.success)))
            .collect();
        let last =
            context.last_feedback().map_or_else(|| "nothing".to_owned(), |given| given.feedback.summary);
        Ok(Some(Feedback::say(format!(
            "{} since {}; {}; before: {last}; asked: {}",
            context.calls_since_own(),
            context.calls_since_any(),
            tools.join(","),
            context.prompt().unwrap_or_default()
        ))))
    }
}

#[test]
fn a_provider_sees_the_history_and_may_decline_without_losing_its_turn() {
    let asked = Arc::new(AtomicUsize::new(0));
    let every = |calls: u64| Trigger { every_n_calls: calls.try_into().ok(), ..Trigger::default() };
    let engine = PolicyEngine::builder(passing())
        .provider(every(2), Watching { asked: Arc::clone(&asked) })
        .build()
        .unwrap();
    engine.prompted(&key("s"), &Prompt { name: None, text: "mend the parser".to_owned() }).unwrap();
    let step = |name: &str, outcome: Outcome| -> Option<String> {
        let action = tool(name);
        assert!(engine.evaluate(&action).passed());
        engine.post_action(&action, outcome).unwrap();
        engine.advise(&key("s")).unwrap().pop().map(|advice| match advice.said {
            Said::Feedback(feedback) => feedback.summary,
            other => format!("{other:?}"),
        })
    };
    assert_eq!(step("a", Outcome::success()), None);
    assert_eq!(asked.load(Ordering::Relaxed), 0, "it is not asked before its trigger");
    assert_eq!(step("b", Outcome::success()), None);
    // It declined, so it is still due at the very next call.
    let said = step("c", Outcome::failure("no")).unwrap();
    assert_eq!(said, "3 since 3; b:true,c:false; before: nothing; asked: mend the parser");
    assert_eq!(step("d", Outcome::success()), None);
    let said = step("e", Outcome::success()).unwrap();
    assert!(said.starts_with("2 since 2; d:true,e:true; before: 3 since 3"), "{said}");
}

struct Mentions(&'static str);

impl Checker for Mentions {
    fn name(&self) -> &str {
        "mentions"
    }

    fn check(&self, context: &CompletionContext<'_>) -> Result<Checked, String> {
        assert_eq!((context.reason(), context.key().agent.as_str()), (Some("done"), ""));
        match context.output() {
            None => Err("there is no output".to_owned()),
            Some(output) if output.contains(self.0) => Ok(Checked::Complete),
            Some(_) => Ok(Checked::Incomplete(format!("The answer does not mention {}.", self.0))),
        }
    }
}

#[test]
fn a_checker_judges_what_the_agent_said_last() {
    let engine = PolicyEngine::builder(passing()).checker(Mentions("the risk")).build().unwrap();
    let stop = |output: Option<&str>| {
        let stop =
            Stop { output: output.map(str::to_owned), reason: Some("done".to_owned()), ..Stop::default() };
        engine.check_stop(&key("s"), None, &stop).unwrap().unwrap().outcome
    };
    let reasons = |outcome: Completion| outcome.reasons().join("");
    assert_eq!(reasons(stop(Some("all fine"))), "The answer does not mention the risk.");
    assert_eq!(reasons(stop(None)), "The check `mentions` has no answer: there is no output.");
    assert_eq!(stop(Some("the risk is low")), Completion::Complete);
}

#[test]
fn a_checker_that_panics_is_not_met() {
    struct Panics;
    impl Checker for Panics {
        fn name(&self) -> &str {
            "panics"
        }
        fn check(&self, _: &CompletionContext<'_>) -> Result<Checked, String> {
            panic!("boom")
        }
    }
    let engine = PolicyEngine::builder(passing()).checker(Panics).build().unwrap();
    let check = engine.check_stop(&key("s"), None, &Stop::default()).unwrap().unwrap();
    assert!(matches!(check.outcome, Completion::Incomplete { .. }));
}

#[test]
fn a_governed_deed_is_recorded_as_it_went() {
    let engine = PolicyEngine::new(passing()).unwrap();
    let action = Action::bash("make").in_session("s");
    let counts = || {
        let state = engine.session(&key("s")).unwrap();
        (state.success_count, state.failure_count)
    };
    governed(&engine, &action, || ()).unwrap();
    assert_eq!(counts(), (1, 0));
    assert!(governed(&engine, &action, || Err::<(), _>("no network")).unwrap().is_err());
    assert_eq!(counts(), (1, 1));
    let run = |code: i32| {
        let line = format!("exit {code}");
        governed(&engine, &action, || std::process::Command::new("sh").args(["-c", &line]).status())
            .unwrap()
            .unwrap()
    };
    assert!(!run(1).success());
    assert_eq!(counts(), (1, 2));
    assert!(run(0).success());
    assert_eq!(counts(), (2, 2));
    let panicked = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
        let _ = governed(&engine, &action, || -> () { panic!("boom") });
    }));
    assert!(panicked.is_err());
    assert_eq!(counts(), (2, 3));
}

#[test]
fn whoever_is_asked_about_a_governed_deed_answers_once_for_everything() {
    let engine = PolicyEngine::new(lictor_engine::All::new((
        action_guard("one", |_| Verdict::ask("first?")),
        action_guard("two", |_| Verdict::ask("second?")),
    )))
    .unwrap();
    let action = Action::bash("make deploy").in_session("s");
    let mut asked = Vec::new();
    let no = Governed::new(&engine, &action).on_policy(|questions| {
        asked.push(questions.len());
        vec![Answer::yes(), Answer::no()]
    });
    let mut entered = false;
    assert!(no.run(|| entered = true).is_err());
    assert!(!entered, "what is refused is not begun");
    assert_eq!(asked, [2]);
    let yes = Governed::new(&engine, &action)
        .on_policy(|questions| questions.iter().map(|_| Answer::yes()).collect());
    let outcome = yes.run_reporting(|| 7, |_| Outcome::failure("odd")).unwrap();
    assert_eq!((outcome, engine.session(&key("s")).unwrap().failure_count), (7, 1));
    assert!(governed(&engine, &action, || ()).is_err(), "without anybody to ask it stops");
}

#[test]
fn tracers_hear_outcomes_and_everybody_gets_the_companion() {
    struct Sees(Arc<AtomicUsize>);
    impl lictor_engine::Tracer for Sees {
        fn trace(&self, _: &Action, _: &lictor_engine::Evaluation) -> std::io::Result<()> {
            Ok(())
        }
        fn trace_with(
            &self,
            _: &Action,
            _: &lictor_engine::Evaluation,
            companion: Option<&Companion>,
        ) -> std::io::Result<()> {
            let number = companion.and_then(Companion::get::<usize>).copied().unwrap_or_default();
            self.0.store(number, Ordering::Relaxed);
            Ok(())
        }
    }
    let seen = Arc::new(AtomicUsize::new(0));
    let collecting = Arc::new(CollectingTracer::new());
    let guard = guard_fn("companion", |_: &Action, context: &mut Context<'_>| {
        match context.companion().and_then(Companion::get::<usize>) {
            Some(7) => Verdict::pass(),
            _ => Verdict::block("no companion", "give one"),
        }
    });
    let engine = PolicyEngine::builder(guard)
        .deadline(std::time::Duration::from_secs(30))
        .tracer(Sees(Arc::clone(&seen)))
        .tracer(Arc::clone(&collecting))
        .build()
        .unwrap();
    let action = Action::bash("ls").in_session("s");
    assert!(!engine.evaluate(&action).passed());
    let mode = Mode { companion: Some(Companion::new(7_usize)), ..Mode::default() };
    assert!(engine.evaluate_with(&action, mode).passed());
    assert_eq!(seen.load(Ordering::Relaxed), 7);
    let standing = engine.post_action(&action, Outcome::failure("no")).unwrap();
    assert_eq!(standing, Standing::Governed);
    let outcomes = collecting.outcomes();
    assert_eq!(outcomes.len(), 1);
    assert_eq!((outcomes[0].0.digest(), outcomes[0].1.success), (action.digest(), false));
}

#[test]
fn a_view_outlives_the_evaluation() {
    let kept = Arc::new(std::sync::Mutex::new(Vec::new()));
    let into = Arc::clone(&kept);
    let first = guard_fn("first", |_: &Action, context: &mut Context<'_>| {
        context.add_risk(0.2);
        context.annotate("n", 1);
        Verdict::warn("careful")
    });
    let second = guard_fn("second", move |_: &Action, context: &mut Context<'_>| {
        into.lock().unwrap().push(context.view());
        into.lock().unwrap().push(context.view());
        Verdict::pass()
    });
    let engine = PolicyEngine::new(lictor_engine::All::new((first, second))).unwrap();
    let _ = engine.evaluate(&Action::bash("ls").in_session("s"));
    let views = kept.lock().unwrap();
    assert_eq!((views[0].risk.in_thousandths(), views[0].verdicts.len()), (200, 1));
    assert_eq!(views[0].annotations.get("first.n"), Some(&json!(1)));
    assert!(Arc::ptr_eq(&views[0].lineage, &views[1].lineage), "sessions are copied once");
}

#[test]
fn graphs_in_code_have_a_digest_of_their_own() {
    struct Limit(u32);
    impl Guard for Limit {
        fn name(&self) -> &str {
            "limit"
        }
        fn check(&self, _: &Action, _: &mut Context<'_>) -> Verdict {
            Verdict::pass()
        }
        fn fingerprint(&self) -> Option<String> {
            Some(self.0.to_string())
        }
    }
    let policy = |limit| PolicyEngine::new(Limit(limit)).unwrap().policy();
    assert_eq!(policy(1), policy(1));
    assert_ne!(policy(1), policy(2));
    assert_ne!(policy(1), PolicyEngine::new(lictor_engine::Not::new(Limit(1), "no", "go")).unwrap().policy());
}

#[test]
fn equal_names_can_be_numbered() {
    let guard = || action_guard("same", |_| Verdict::pass());
    assert!(PolicyEngine::new(lictor_engine::All::new((guard(), guard()))).is_err());
    let node = lictor_engine::Node::from(lictor_engine::All::new((guard(), guard()))).numbered();
    let engine = PolicyEngine::new(node).unwrap();
    let names: Vec<_> = engine.graph().guards().into_iter().map(|(name, _)| name.to_owned()).collect();
    assert_eq!(names, ["same", "same#2"]);
}
