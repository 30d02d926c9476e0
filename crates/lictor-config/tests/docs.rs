//! The examples of `docs/guardrails.md` are policies: each loads without problems and gives a graph.

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use lictor_config::{Asked, BuildEnv, Origin, PolicyBundle, Runner, Source, load};
    use lictor_core::{Action, Decision, Facts, Graph, SessionState, Timestamp};

    struct Nobody;

    impl Runner for Nobody {
        fn run(&self, _: &Asked<'_>, _: &[u8]) -> Result<Vec<u8>, String> {
            Err("nothing runs here".to_owned())
        }
    }

    fn examples() -> Vec<String> {
        let text = include_str!("../../../docs/guardrails.md");
        let blocks = text.split("```yaml\n").skip(1);
        blocks.map(|rest| rest.split("```").next().unwrap().to_owned()).collect()
    }

    fn policy(yaml: &str) -> PolicyBundle {
        let source = Source {
            origin: Origin::Repository,
            path: "governance.yaml".into(),
            bytes: yaml.as_bytes().to_vec(),
        };
        let loaded = load(&[source]).unwrap_or_else(|error| panic!("{error}\n{yaml}"));
        assert!(loaded.warnings.is_empty(), "{:?}\n{yaml}", loaded.warnings);
        loaded.policy
    }

    fn graph(policy: &PolicyBundle) -> Graph {
        let env = BuildEnv { root: "/p".to_owned(), runner: Arc::new(Nobody) };
        Graph::new(policy.build(&env).unwrap().root).unwrap()
    }

    #[test]
    fn every_example_is_a_policy() {
        let examples = examples();
        assert_eq!(examples.len(), 9);
        for example in &examples {
            graph(&policy(example));
        }
        assert_eq!(policy(&examples[2]).feedback().len(), 6);
        let gate = policy(&examples[3]).gate().unwrap();
        assert_eq!((gate.max_rounds, gate.patience, gate.subagents.is_some()), (6, 3, true));
        assert_eq!(gate.watched(), ["CHANGELOG.md"]);
    }

    #[test]
    fn the_first_example_says_what_must_come_first() {
        let graph = graph(&policy(&examples()[0]));
        let mut deploy = Action::new(lictor_core::ActionKind::Tool, serde_json::Map::new()).in_session("s");
        deploy.tool = "deploy".to_owned();
        let judged = graph.judge(&deploy, &Facts::none(), &SessionState::default(), Timestamp(0));
        assert_eq!(judged.value.settle(), Decision::Block);
        let reasons: Vec<&str> = judged.verdicts.iter().map(|given| given.verdict.reason()).collect();
        assert!(reasons.contains(&"Tool 'deploy' requires: lint, test"), "{reasons:?}");
    }
}
