//! Any bytes on the hook of any agent end in an answer that this agent accepts. What was not understood never passes
//! where a block can stop it, and neither does what the policy objects to.
#![no_main]

use std::collections::BTreeMap;
use std::sync::{Arc, OnceLock};

use libfuzzer_sys::fuzz_target;
use lictor_engine::{Asking, FixedClock, Mode, PolicyEngine, Timestamp};
use lictor_agents::conformance::{Accepts, Obeyed, obey, schema};
use lictor_agents::{
    Agent, Ask, Block, Event, EventKind, HookEnv, Rendered, Reply, HookContext, parse, render, slots,
};
use lictor_config::PolicyBundle;
use lictor_core::{Action, Decision};
use lictor_observe::{FakeObserver, Project, facts};

const HOME: &str = "/home/user/project";

/// The hooks as they are installed: an agent with the name of an event, or without one.
fn hook(agent: u8, event: u8) -> (Agent, Option<&'static str>) {
    let agent = Agent::ALL[usize::from(agent) % Agent::ALL.len()];
    let names: Vec<&str> = slots(agent).map(|slot| slot.event_name()).collect();
    (agent, names.get(usize::from(event)).copied())
}

/// What each event of each agent accepts.
fn accepted(slot: &HookContext) -> &'static Accepts {
    static SCHEMAS: OnceLock<Vec<(Agent, BTreeMap<String, Accepts>)>> = OnceLock::new();
    let schemas = SCHEMAS
        .get_or_init(|| Agent::ALL.map(|agent| (agent, schema(agent).expect("the schema is data"))).into());
    let (_, events) = schemas.iter().find(|(agent, _)| *agent == slot.agent()).expect("all agents are there");
    events.get(slot.event_name()).expect("every event is in its schema")
}

fn engine() -> PolicyEngine {
    let built = PolicyBundle::base().build(&lictor_fuzz::around(HOME)).expect("the base makes a graph");
    let world = FakeObserver::for_judging();
    let project = Project::at(HOME, &world);
    let look = move |action: &Action| facts(action, &project, &world);
    PolicyEngine::builder(built.root)
        .clock(FixedClock(Timestamp(1_700_000_000_000)))
        .facts(look)
        .history(built.history)
        .build()
        .expect("the graph is sound")
}

/// As the hook answers: what is decided, and the reply.
fn judge(event: &Event, action: &Action) -> (Decision, Reply) {
    let asking = if event.slot.can_ask() { Asking::Caller } else { Asking::Nobody };
    let dialect: Arc<str> = event.slot.through().to_string().into();
    let evaluation =
        engine().evaluate_with(action, Mode { asking, dialect: Some(dialect), ..Mode::default() });
    let id = evaluation.id.map(|id| id.to_string());
    let block = Block { reason: evaluation.reason(), fix: evaluation.fix(), id };
    let reply = match evaluation.decision {
        Decision::Pass => Reply::Silence,
        Decision::Warn => Reply::Tell(evaluation.reason()),
        Decision::Ask => Reply::Ask(Ask { messages: vec![evaluation.reason()], otherwise: block }),
        Decision::Block => Reply::Block(block),
    };
    (evaluation.decision, reply)
}

/// The form that every agent obeys that runs hooks as processes.
fn is_exit_two(answer: &Rendered) -> bool {
    answer.exit == 2 && answer.stdout.is_empty() && !answer.stderr.trim().is_empty()
}

/// Whether the agent knows the answer. One that runs another agent's hooks is only sure to know the exit code.
fn known(slot: &HookContext, answer: &Rendered) -> bool {
    accepted(slot).answer(answer) || (slot.agent() != slot.through() && is_exit_two(answer))
}

fn stopped(slot: &HookContext, answer: &Rendered) -> bool {
    if slot.event_name().is_empty() {
        return is_exit_two(answer);
    }
    known(slot, answer)
        && matches!(obey(slot.agent(), slot.event_name(), answer), Obeyed::Stopped(_) | Obeyed::Asks(_))
}

fuzz_target!(|data: &[u8]| {
    let [agent, event, stdin @ ..] = data else { return };
    let (agent, hint) = hook(*agent, *event);
    match parse(agent, hint, stdin, &HookEnv::new(HOME, |_| None)) {
        Err(unclear) => {
            let answer = render(&unclear.slot, &unclear.reply());
            if unclear.slot.can_block() {
                assert!(stopped(&unclear.slot, &answer), "{agent} {hint:?} {unclear}: {answer:?}");
            } else {
                assert_eq!(answer, Rendered::default());
            }
        }
        Ok(event) => {
            let (decision, reply) = match &event.kind {
                EventKind::PreTool(action) | EventKind::PermissionRequest(action) => judge(&event, action),
                _ => (Decision::Pass, Reply::Silence),
            };
            let answer = render(&event.slot, &reply);
            assert!(known(&event.slot, &answer), "{agent} {hint:?}: {answer:?}");
            if decision >= Decision::Ask && event.slot.can_block() {
                assert!(stopped(&event.slot, &answer), "{agent} {hint:?}: {answer:?}");
            }
        }
    }
});
