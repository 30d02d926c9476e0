use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

use lictor_core::facts::{Existence, Zone};
use lictor_core::tools::ReadBeforeWrite;
use lictor_engine::{Action, Decision, Facts, MemoryStore, Node, Outcome, PolicyEngine, Store, guard_fn};
use lictor_observe::{FakeObserver, Project, facts as observe};
use lictor_store::{Query, StoreExt as _};
use serde_json::{Value, json};

const CASES: &str = include_str!("../cases/guardrails.json");

/// A project at `/p` whose files change.
#[derive(Clone, Default)]
struct World {
    files: Arc<Mutex<BTreeMap<String, String>>>,
    links: BTreeMap<String, String>,
    blind: bool,
}

fn absolute(path: &str) -> String {
    if path.starts_with('/') { path.to_owned() } else { format!("/p/{path}") }
}

impl World {
    fn of(case: &Value) -> Self {
        let map = |key: &str| -> BTreeMap<String, String> {
            serde_json::from_value(case[key].clone()).unwrap_or_default()
        };
        let files = map("files").into_iter().map(|(path, text)| (absolute(&path), text)).collect();
        Self { files: Arc::new(Mutex::new(files)), links: map("links"), blind: case["blind"] == true }
    }

    fn facts(&self, action: &Action) -> Facts {
        let mut observer = FakeObserver::empty().directory("/p/.git").variable_set("HOME", "/home/me");
        for (path, text) in self.files.lock().unwrap().iter() {
            observer = observer.file(path, text);
        }
        for (path, target) in &self.links {
            observer = observer.link_to(&absolute(path), target);
        }
        let mut project = Project::at("/p", &observer);
        project.contents = true;
        let mut facts = observe(action, &project, &observer);
        if self.blind {
            for effect in &mut facts.effects {
                if let lictor_core::facts::Effect::File { target, .. } = effect {
                    (target.existence, target.zone) = (Existence::Unknown, Zone::Unknown);
                }
            }
        }
        facts
    }

    /// Applies the effect of a write.
    fn write(&self, facts: &Facts) {
        for (access, place) in facts.files().filter(|(access, _)| !access.is_read_only()) {
            let path = place.real.as_ref().unwrap_or(&place.path).clone();
            self.files.lock().unwrap().insert(path, format!("written by {access:?}"));
        }
    }
}

/// `bash words…`, `read path`, `write path…`, or a tool.
fn action(text: &str, session: &str) -> Action {
    let (kind, rest) = text.split_once(' ').unwrap_or((text, ""));
    let mut action = match kind {
        "bash" => Action::bash(rest),
        "read" => Action::read(rest),
        "write" | "edit" => {
            let mut action = Action::write(rest);
            if let Some((first, second)) = rest.split_once(' ') {
                action.payload.insert("path".to_owned(), first.into());
                action.payload.insert("paths".to_owned(), json!([first, second]));
            }
            action
        }
        tool => {
            let mut action = Action::new(lictor_engine::ActionKind::Tool, serde_json::Map::new());
            action.tool = tool.to_owned();
            action.payload.insert("path".to_owned(), rest.into());
            action
        }
    };
    action = action.in_session(session).in_dir("/p");
    action
}

fn engine(case: &Value, world: &World, store: &Arc<dyn Store>) -> PolicyEngine {
    let root: Node = if case["faulty"] == true {
        guard_fn("broken", |_, _| panic!("it does not work")).into()
    } else {
        ReadBeforeWrite::new("read_before_write").into()
    };
    let eyes = world.clone();
    PolicyEngine::builder(root)
        .shared_store(Arc::clone(store))
        .facts(move |action: &Action| eyes.facts(action))
        .knows_files(true)
        .build()
        .unwrap()
}

/// Changes by others, and expectations on files.
fn between(step: &serde_json::Map<String, Value>, world: &World, store: &Arc<dyn Store>, id: &str) {
    if let Some(kind) = step.get("records").and_then(Value::as_str) {
        let found = store.view(|view| view.records(&Query::all().kind(kind))).unwrap();
        assert_eq!(found.len() as u64, step["count"].as_u64().unwrap(), "{id}");
    } else if let Some(path) = step.get("unchanged").and_then(Value::as_str) {
        assert_eq!(world.files.lock().unwrap()[&absolute(path)], step["is"], "{id}");
    } else {
        for (path, text) in step {
            let mut files = world.files.lock().unwrap();
            match text.as_str() {
                Some(text) => files.insert(absolute(path), text.to_owned()),
                None => files.remove(&absolute(path)),
            };
        }
    }
}

#[test]
fn vectors() {
    std::panic::set_hook(Box::new(|info| {
        if !info.to_string().contains("it does not work") {
            eprintln!("{info}");
        }
    }));
    let cases: Vec<Value> = serde_json::from_str(CASES).unwrap();
    for case in &cases {
        let id = case["id"].as_str().unwrap();
        let world = World::of(case);
        let store: Arc<dyn Store> = Arc::new(MemoryStore::new());
        let engine = engine(case, &world, &store);
        let mut session = "s1";
        for (at, step) in case["steps"].as_array().unwrap().iter().enumerate() {
            let words = match step {
                Value::Array(words) => words,
                Value::Object(step) => {
                    between(step, &world, &store, id);
                    continue;
                }
                _ => {
                    session = "s2";
                    continue;
                }
            };
            let text = words[0].as_str().unwrap();
            let mut action = action(text, session);
            action.tool_use_id = Some(format!("t{at}"));
            let evaluation = engine.evaluate(&action);
            if words[1] == "deny" {
                assert_eq!(evaluation.decision, Decision::Block, "{id}: {text}");
                let reason =
                    evaluation.active().iter().map(|given| given.verdict.reason()).collect::<String>();
                assert!(reason.contains(words[2].as_str().unwrap()), "{id}: {text}: {reason}");
                continue;
            }
            assert!(evaluation.passed(), "{id}: {text}: {}", evaluation.reason());
            let success = words[1] == "allow";
            if success {
                world.write(&world.facts(&action));
            }
            let outcome = if success { Outcome::success() } else { Outcome::failure("no") };
            engine.post_action(&action, outcome).unwrap();
        }
    }
}

/// How many vectors of each family the specification has.
const FAMILIES: [(&str, usize); 16] = [
    ("PD", 3),
    ("PS", 1),
    ("SD", 17),
    ("PX", 5),
    ("NP", 13),
    ("RW", 25),
    ("PL", 16),
    ("FC", 5),
    ("FT", 10),
    ("FF", 9),
    ("FR", 10),
    ("RN", 7),
    ("DL", 10),
    ("DF", 2),
    ("TC", 17),
    ("AF", 26),
];

#[test]
fn every_vector_is_a_case_or_says_where_it_went() {
    let core = [
        include_str!("../../../lictor-core/tests/cases/guardrails/sequence.json"),
        include_str!("../../../lictor-core/tests/cases/guardrails/feedback.json"),
        include_str!("../../../lictor-core/tests/cases/guardrails/wording.json"),
        include_str!("../../../lictor-core/tests/cases/guardrails/completion.json"),
    ];
    let elsewhere: BTreeMap<String, String> =
        serde_json::from_str(include_str!("../cases/guardrails-elsewhere.json")).unwrap();
    let is_case =
        |id: &str| core.iter().chain([&CASES]).any(|file| file.contains(&format!("\"id\": \"{id}\"")));
    let families = FAMILIES.into_iter().chain([("TX", 11)]);
    for id in families.flat_map(|(family, count)| (1..=count).map(move |number| format!("{family}-{number}")))
    {
        let (case, went) = (is_case(&id), elsewhere.contains_key(&id));
        assert!(case != went, "{id}: {}", if case { "both" } else { "neither a case nor explained" });
    }
}
