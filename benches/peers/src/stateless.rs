//! Ten stateless rules on one Bash event whose facts are already there.
//!
//! Each engine gets the facts in its own form, prepared outside the timing, and decides one call at a time.

use std::hint::black_box;

use lictor_core::facts::{Command, Effect, GitEffect, Opaque, Privilege, Reach};
use lictor_core::{Action, All, Facts, Graph, Node, SessionState, Timestamp, Value, Verdict, guard_fn};
use serde_json::{Value as Json, json};

use crate::measure::{Entry, Timed, interleaved};

const ROUNDS: usize = 1_000;
const BATCH: u32 = 20;

/// A call that no rule minds, and one that a single rule in the middle blocks.
struct Event {
    name: &'static str,
    command: &'static str,
    git: GitEffect,
    blocked: bool,
}

const EVENTS: [Event; 2] = [
    Event {
        name: "passes",
        command: "cargo test && git push origin main",
        git: GitEffect::Push,
        blocked: false,
    },
    Event {
        name: "blocks",
        command: "cargo test && git push --force origin main",
        git: GitEffect::ForcePush,
        blocked: true,
    },
];

impl Event {
    fn facts(&self) -> Facts {
        let run = |line: &str| {
            let words: Vec<String> = line.split(' ').map(str::to_owned).collect();
            Effect::Run(Command {
                program: words[0].clone(),
                args: words[1..].iter().cloned().map(Some).collect(),
                through: vec![],
                attributable: true,
                certain: true,
                words,
            })
        };
        let mut effects: Vec<_> = self.command.split(" && ").map(run).collect();
        effects.push(Effect::Git { effect: self.git, target: Some("main".to_owned()) });
        effects.push(Effect::Reach(Reach {
            host: Some("github.com".to_owned()),
            text: "origin".to_owned(),
            sends: true,
        }));
        Facts { effects, opaque: vec![] }
    }

    /// The same facts as a record, which is what the peers take.
    fn record(&self) -> Json {
        let git = if self.git == GitEffect::Push { "push" } else { "force_push" };
        json!({
            "command": self.command,
            "programs": ["cargo", "git"],
            "git": [git],
            "hosts": ["github.com"],
            "privileged": false,
            "opaque": 0,
        })
    }
}

/// The rules as the peers read them: a field that must not contain a word, then two that are not sets.
const FORBIDDEN: [(&str, &str); 8] = [
    ("programs", "shutdown"),
    ("programs", "mkfs"),
    ("programs", "dd"),
    ("git", "skip_hooks"),
    ("git", "force_push"),
    ("git", "discard_work"),
    ("git", "rewrite_history"),
    ("hosts", "pastebin.com"),
];

fn runs(facts: &Facts, program: &str) -> bool {
    facts.commands().any(|command| command.program == program)
}

fn does(facts: &Facts, wanted: GitEffect) -> bool {
    facts.effects.iter().any(|effect| matches!(effect, Effect::Git { effect, .. } if *effect == wanted))
}

fn privileged(facts: &Facts) -> bool {
    facts.effects.iter().any(|effect| matches!(effect, Effect::Privilege(Privilege::BecomeRoot)))
}

fn unclear(facts: &Facts) -> bool {
    let opaque: &[Opaque] = &facts.opaque;
    !opaque.is_empty()
}

fn guards() -> Graph {
    type Rule = Box<dyn Fn(&Facts) -> bool + Send + Sync>;
    let rules: [(&str, Rule); 10] = [
        ("no_shutdown", Box::new(|facts| runs(facts, "shutdown"))),
        ("no_mkfs", Box::new(|facts| runs(facts, "mkfs"))),
        ("no_dd", Box::new(|facts| runs(facts, "dd"))),
        ("no_skipped_hooks", Box::new(|facts| does(facts, GitEffect::SkipHooks))),
        ("no_force_push", Box::new(|facts| does(facts, GitEffect::ForcePush))),
        ("no_discarding", Box::new(|facts| does(facts, GitEffect::DiscardWork))),
        ("no_rewriting", Box::new(|facts| does(facts, GitEffect::RewriteHistory))),
        (
            "no_pastebin",
            Box::new(|facts| facts.hosts().any(|reach| reach.host.as_deref() == Some("pastebin.com"))),
        ),
        ("no_privileges", Box::new(privileged)),
        ("understood", Box::new(unclear)),
    ];
    let nodes: Vec<Node> = rules
        .into_iter()
        .map(|(name, broken)| {
            Node::from(guard_fn(name, move |_, context| {
                if broken(context.facts()) {
                    Verdict::block("not here", "do it otherwise")
                } else {
                    Verdict::pass()
                }
            }))
        })
        .collect();
    Graph::new(All::new(nodes)).expect("a sound graph")
}

/// The same ten as expressions, as `governance.yaml` has them.
fn expressions(record: &Json) -> Graph {
    use lictor_expr::{Program, Schema, Type};
    let schema = Schema::builder()
        .record(
            "facts",
            [
                ("programs", Type::list(Type::String)),
                ("git", Type::list(Type::String)),
                ("hosts", Type::list(Type::String)),
                ("privileged", Type::Bool),
                ("opaque", Type::Int),
            ],
        )
        .build();
    let mut sources: Vec<String> =
        FORBIDDEN.iter().map(|(field, word)| format!("!(\"{word}\" in facts.{field})")).collect();
    sources.extend(["!facts.privileged".to_owned(), "facts.opaque == 0".to_owned()]);
    let env = json!({ "facts": record });
    let nodes: Vec<Node> = sources
        .into_iter()
        .enumerate()
        .map(|(number, source)| {
            let program = Program::compile(&source, &schema, &Type::Bool)
                .unwrap_or_else(|errors| panic!("{source}: {errors:?}"));
            let env = env.as_object().expect("an object").clone();
            Node::from(guard_fn(format!("rule_{number}"), move |_, _| match program.test(&env) {
                Ok(true) => Verdict::pass(),
                Ok(false) => Verdict::block("not here", "do it otherwise"),
                Err(error) => Verdict::block(error.to_string(), "mend the rule"),
            }))
        })
        .collect();
    Graph::new(All::new(nodes)).expect("a sound graph")
}

fn rego() -> String {
    let mut text = "package agent\nimport rego.v1\n".to_owned();
    for (field, word) in FORBIDDEN {
        text.push_str(&format!("deny contains \"{field} {word}\" if \"{word}\" in input.{field}\n"));
    }
    text.push_str("deny contains \"privileged\" if input.privileged\n");
    text.push_str("deny contains \"opaque\" if input.opaque > 0\n");
    text
}

const DENY: &str = "data.agent.deny";

fn regorus_engine(record: &Json) -> regorus::Engine {
    let mut engine = regorus::Engine::new();
    engine.add_policy("agent.rego".to_owned(), rego()).expect("the policy parses");
    engine.set_input(regorus::Value::from_json_str(&record.to_string()).expect("an input"));
    engine
}

fn regorus_vm(record: &Json) -> regorus::rvm::vm::RegoVM {
    let mut engine = regorus::Engine::new();
    engine.add_policy("agent.rego".to_owned(), rego()).expect("the policy parses");
    let compiled = engine.compile_with_entrypoint(&DENY.into()).expect("the policy compiles");
    let program = regorus::languages::rego::compiler::Compiler::compile_from_policy(&compiled, &[DENY])
        .expect("a program");
    let mut vm = regorus::rvm::vm::RegoVM::new();
    vm.load_program(program);
    vm.set_input(regorus::Value::from_json_str(&record.to_string()).expect("an input"));
    vm
}

fn denies(value: &regorus::Value) -> bool {
    !value.as_set().expect("a set").is_empty()
}

fn cedar_text(scope: &str, root: &str) -> String {
    let mut text = format!("permit (principal, {scope}, resource);\n");
    let conditions = FORBIDDEN
        .iter()
        .map(|(field, word)| format!("{root}.{field}.contains(\"{word}\")"))
        .chain([format!("{root}.privileged"), format!("{root}.opaque > 0")]);
    for condition in conditions {
        text.push_str(&format!("forbid (principal, {scope}, resource) when {{ {condition} }};\n"));
    }
    text
}

struct Cedar {
    policies: cedar_policy::PolicySet,
    request: cedar_policy::Request,
    entities: cedar_policy::Entities,
    authorizer: cedar_policy::Authorizer,
}

impl Cedar {
    fn new(record: &Json) -> Self {
        let uid = |text: &str| text.parse().expect("an entity");
        let context = cedar_policy::Context::from_json_value(record.clone(), None).expect("a context");
        Self {
            policies: cedar_text("action", "context").parse().expect("the policies parse"),
            request: cedar_policy::Request::new(
                uid("Agent::\"a\""),
                uid("Action::\"Bash\""),
                uid("Project::\"p\""),
                context,
                None,
            )
            .expect("a request"),
            entities: cedar_policy::Entities::empty(),
            authorizer: cedar_policy::Authorizer::new(),
        }
    }

    fn denies(&self) -> bool {
        let response = self.authorizer.is_authorized(&self.request, &self.policies, &self.entities);
        assert!(response.diagnostics().errors().next().is_none());
        response.decision() == cedar_policy::Decision::Deny
    }
}

const DOGWOOD_SCHEMA: &str = r#"
namespace Agent {
  type BashInput = {
    command: String, programs: Set<String>, git: Set<String>, hosts: Set<String>, privileged: Bool, opaque: Long
  };
  entity Project;
  entity User;
  action "Bash" appliesTo { principal: [User], resource: [Project], context: { input: BashInput } };
}
"#;

struct Dogwood {
    authorizer: dogwood_language::Authorizer,
    event: dogwood_language::Event,
}

impl Dogwood {
    fn new(record: &Json) -> Self {
        use dogwood_language::{Authorizer, Event, LoweredPolicySet, PolicySchema, ServiceSchema, Validator};
        let schema = PolicySchema::from_cedarschema_str(DOGWOOD_SCHEMA).expect("the schema parses");
        let text = cedar_text("action == Agent::Action::\"Bash\"", "context.input");
        let policies = LoweredPolicySet::from_str(&text, &ServiceSchema::defaults(), &schema)
            .unwrap_or_else(|error| panic!("{error}\n{text}"));
        let validation = Validator::new().validate(&policies);
        assert!(validation.validation_passed(), "{:?}", validation.validation_errors().collect::<Vec<_>>());
        let mut event = Event::builder("Agent::Action::Bash", "request")
            .timestamp(1)
            .principal("Agent::User::\"a\"")
            .resource("Agent::Project::\"p\"");
        for (field, value) in record.as_object().expect("a record") {
            event = event.field("input", field, dogwood_value(value));
            event = event.request_context("input", field, dogwood_value(value));
        }
        let authorizer = Authorizer::builder(policies)
            .temporal_engine(dogwood_local_engine::LocalTemporalEngine::new())
            .build()
            .expect("the policies are prepared");
        Self { authorizer, event: event.build() }
    }

    fn denies(&mut self) -> bool {
        let response = self.authorizer.is_authorized(&self.event).expect("a request is decided");
        assert!(response.diagnostics().errors().next().is_none());
        response.decision() == dogwood_language::Decision::Deny
    }
}

fn dogwood_value(value: &Json) -> dogwood_language::Value {
    use dogwood_language::Value;
    match value {
        Json::Bool(flag) => Value::Bool(*flag),
        Json::Number(number) => Value::Int(number.as_i64().expect("a whole number")),
        Json::String(text) => Value::String(text.clone()),
        Json::Array(items) => Value::Array(items.iter().map(dogwood_value).collect()),
        _ => unreachable!("the record has no such value"),
    }
}

pub fn run() -> Json {
    let mut all = serde_json::Map::new();
    for event in &EVENTS {
        let timed = time(event);
        println!("ten stateless rules on one Bash event that {}\n", event.name);
        println!("| engine | p10 ns | p50 ns | p95 ns | p50 against Lictor |\n|---|---|---|---|---|");
        for row in &timed {
            let ratio = row.p50 / timed[0].p50;
            println!("| {} | {:.0} | {:.0} | {:.0} | {ratio:.1}× |", row.name, row.p10, row.p50, row.p95);
        }
        println!();
        all.insert(event.name.to_owned(), timed.iter().map(Timed::json).collect());
    }
    Json::Object(all)
}

fn time(event: &Event) -> Vec<Timed> {
    let (facts, record) = (event.facts(), event.record());
    let action = Action::bash(event.command);
    let session = SessionState::default();
    let now = Timestamp(1);
    let judge = |graph: &Graph| {
        let judged = black_box(graph.judge(black_box(&action), black_box(&facts), &session, now));
        matches!(judged.value, Value::Block | Value::Error)
    };
    let (closures, expressions) = (guards(), expressions(&record));
    let mut engine = regorus_engine(&record);
    let mut vm = regorus_vm(&record);
    let cedar = Cedar::new(&record);
    let mut dogwood = Dogwood::new(&record);

    assert_eq!(judge(&closures), event.blocked, "Lictor, closures");
    assert_eq!(judge(&expressions), event.blocked, "Lictor, expressions");
    assert_eq!(denies(&engine.eval_rule(DENY.to_owned()).expect("a value")), event.blocked, "regorus");
    assert_eq!(denies(&vm.execute().expect("a value")), event.blocked, "regorus VM");
    assert_eq!(cedar.denies(), event.blocked, "Cedar");
    assert_eq!(dogwood.denies(), event.blocked, "dogwood");

    let input = regorus::Value::from_json_str(&record.to_string()).expect("an input");
    let vm_input = input.clone();
    let entries = vec![
        Entry::new("Lictor, ten guards", || {
            black_box(judge(&closures));
        }),
        Entry::new("Lictor, ten expressions", || {
            black_box(judge(&expressions));
        }),
        Entry::new("regorus, interpreter", || {
            engine.set_input(input.clone());
            black_box(denies(&engine.eval_rule(DENY.to_owned()).expect("a value")));
        }),
        Entry::new("regorus, VM", || {
            vm.set_input(vm_input.clone());
            black_box(denies(&vm.execute().expect("a value")));
        }),
        Entry::new("cedar-policy", || {
            black_box(cedar.denies());
        }),
        Entry::new("dogwood-local-engine", || {
            black_box(dogwood.denies());
        }),
    ];
    interleaved(entries, ROUNDS, BATCH)
}
