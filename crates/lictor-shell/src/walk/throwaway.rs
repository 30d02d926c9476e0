//! Disposable containers and databases: they are named after a test, selected by a filter, in a temporary place,
//! or the environment indicates a test run.

use lictor_core::facts::Effect;

use super::Walker;
use super::simple::Context;
use crate::operand::{Arg, Operand};
use crate::state::Value;

/// Variables that select one of several databases.
const STAGES: [&str; 8] =
    ["RAILS_ENV", "RACK_ENV", "NODE_ENV", "APP_ENV", "MIX_ENV", "DJANGO_ENV", "FLASK_ENV", "ENVIRONMENT"];

/// Whether a name is marked: one of its parts is a test marker (`app_test`, `test-postgres`).
pub(crate) fn is_marked(name: &str) -> bool {
    let lower = name.to_ascii_lowercase();
    let mut parts = lower.split(|letter: char| !letter.is_ascii_alphanumeric());
    parts.any(|part| {
        let part = part.trim_end_matches(|letter: char| letter.is_ascii_digit());
        // `testdb`, `test_db`, `dbtest`.
        let bare = part.strip_suffix("db").or_else(|| part.strip_prefix("db")).unwrap_or(part);
        crate::words::THROWAWAY_MARKS.contains(&bare)
    }) && !lower.contains("prod")
}

/// Whether an address names a database in memory, in a temporary file, or one that is marked.
fn is_scratch_address(text: &str) -> bool {
    let Some((scheme, rest)) = text.split_once("://") else { return false };
    let name = rest.rsplit('/').next().unwrap_or_default().split('?').next().unwrap_or_default();
    scheme.ends_with("sqlite") && (matches!(rest, "" | "/" | "/:memory:") || rest.contains("/tmp/"))
        || is_marked(name)
}

/// Whether a name indicates that others rely on it.
fn is_kept(name: &str) -> bool {
    ["prod", "live", "stag", "main", "*"].iter().any(|part| name.contains(part))
}

/// `-aqf`: short options in one word, one of which is this.
fn is_cluster(word: &str, letter: char) -> bool {
    word.strip_prefix('-').is_some_and(|letters| !letters.starts_with('-') && letters.contains(letter))
}

impl Walker<'_> {
    pub(super) fn is_throwaway(
        &self,
        effect: &Effect<Operand>,
        context: &Context<'_>,
        assignments: &[(String, Arg)],
    ) -> bool {
        match effect {
            Effect::Infrastructure { tool, what, .. } => match tool.as_str() {
                "docker" | "podman" | "nerdctl" | "docker-compose" | "podman-compose" => {
                    self.is_throwaway_container(what, context)
                }
                // Clusters that run on this machine alone.
                "kind" | "k3d" | "minikube" => {
                    let mut names = context.args.iter().filter_map(Arg::known);
                    names.any(|name| is_marked(name) || self.containers.iter().any(|made| made == name))
                }
                _ => false,
            },
            Effect::Database { text, .. } => {
                self.in_own_container
                    || self.runs_as_test(assignments, context)
                    || in_temporary_file(context)
                    || drops_marked(text)
                    || requests_marked(text)
                    || names_marked(context)
                    || on_marked_database(context)
            }
            _ => false,
        }
    }

    /// Whether a command enters a container that the line started.
    pub(super) fn enters_own_container(&self, context: &Context<'_>) -> bool {
        let mut words = context.args.iter().filter_map(Arg::known);
        matches!(context.program, "docker" | "podman" | "nerdctl")
            && words.next() == Some("exec")
            && words.any(|word| self.containers.iter().any(|made| made == word))
    }

    fn is_throwaway_container(&self, what: &str, context: &Context<'_>) -> bool {
        let words: Vec<&str> = context.args.iter().filter_map(Arg::known).collect();
        // A stopped container can be started again.
        if matches!(words.first(), Some(&"stop")) {
            return true;
        }
        let filter = |text: &str| {
            let words: Vec<&str> = text.split_whitespace().collect();
            let picks = |pair: &[&str]| matches!(pair, [option, value] if is_cluster(option, 'f') && value.contains('='));
            text.contains("--filter") || words.windows(2).any(picks)
        };
        if what.contains("prune") {
            return words.iter().any(|word| filter(word));
        }
        if what.contains("compose") {
            return words.windows(2).any(|pair| {
                matches!(pair, [option, value] if matches!(*option, "-f" | "--file" | "-p" | "--project-name") && is_marked(value))
            });
        }
        let named = context.args.iter().skip(1).filter(|arg| !arg.prefix().starts_with('-'));
        let mut named = named
            .filter(|arg| !matches!(arg.known(), Some("rm" | "remove" | "container" | "volume")))
            .peekable();
        // One by its name goes as after a `stop`; what it kept in volumes stays.
        let keeps = matches!(what, "rm" | "container rm")
            && !words.iter().any(|word| is_cluster(word, 'v') || *word == "--volumes");
        named.peek().is_some()
            && named.all(|arg| match arg.known() {
                Some(crate::programs::STARTED) => true,
                Some(name) if self.containers.iter().any(|made| made == name) => true,
                Some(name) => is_marked(name) || keeps && !is_kept(name),
                None => filter(&arg.text) || &*arg.text == "…" && self.picked_by_filter,
            })
    }

    /// Whether the environment of a command selects a test database.
    fn runs_as_test(&self, assignments: &[(String, Arg)], context: &Context<'_>) -> bool {
        let value = |name: &str| {
            let own = assignments.iter().find(|(given, _)| given == name).and_then(|(_, arg)| arg.known());
            own.map(str::to_owned).or_else(|| match self.state.variable(name) {
                Some(Value::Scalar(datum)) => datum.text().map(str::to_owned),
                _ => None,
            })
        };
        STAGES.iter().any(|name| matches!(value(name).as_deref(), Some("test" | "testing")))
            || value("DATABASE_URL").is_some_and(|url| is_scratch_address(&url))
            || context.args.iter().filter_map(Arg::known).any(is_scratch_address)
            || context.args.iter().filter_map(Arg::known).any(|word| {
                let stage = word.split_once('=').is_some_and(|(name, value)| {
                    STAGES.contains(&name) && matches!(value, "test" | "testing")
                });
                if stage {
                    return true;
                }
                let option = ["--settings=", "--env=", "--environment="]
                    .iter()
                    .find_map(|start| word.strip_prefix(start));
                option.is_some_and(is_marked)
            })
            || context.args.windows(2).any(|pair| {
                let [option, value] = pair else { return false };
                matches!(option.known(), Some("--env" | "--environment" | "--settings"))
                    && value.known().is_some_and(is_marked)
            })
    }
}

/// `sqlite3 /tmp/x.db …`, `sqlite3 test.db …`.
fn in_temporary_file(context: &Context<'_>) -> bool {
    matches!(context.program, "sqlite3" | "sqlite" | "litecli" | "duckdb")
        && context.args.iter().filter_map(Arg::known).find(|word| !word.starts_with('-')).is_some_and(
            |file| {
                let name = file.rsplit('/').next().unwrap_or(file);
                file == ":memory:" || crate::paths::is_temporary(file) || is_marked(name)
            },
        )
}

/// `psql app_test -c …`, `mysql -D ci`, `mongosh test`.
fn on_marked_database(context: &Context<'_>) -> bool {
    let (option, valued) = match context.program {
        "psql" | "pgcli" => ("-d", "-h-p-U-c-f-v-o-d-F-P-R-T-L"),
        "mysql" | "mariadb" | "mycli" => ("-D", "-h-P-u-e-S-D"),
        "mongosh" | "mongo" => ("--db", "--eval--host--port-u-p--db"),
        _ => return false,
    };
    let mut before = "";
    context.args.iter().filter_map(Arg::known).any(|word| {
        let named = if before == option {
            true
        } else {
            !word.starts_with('-') && (before.is_empty() || !valued.contains(before))
        };
        before = if word.starts_with('-') && !word.contains('=') { word } else { "" };
        let name = word.rsplit('/').next().unwrap_or(word);
        named && name.len() < 64 && !name.contains(char::is_whitespace) && is_marked(name)
    })
}

/// `dropdb app_tmp_$$`, `redis-cli -n 15 flushdb`: a marked name, or one of the last numbers.
fn names_marked(context: &Context<'_>) -> bool {
    match context.program {
        "dropdb" => context.args.last().is_some_and(|name| is_marked(name.prefix())),
        "redis-cli" | "valkey-cli" => {
            let words: Vec<&str> = context.args.iter().filter_map(Arg::known).collect();
            let other = words.windows(2).any(
                |pair| matches!(pair, ["-n", number] if number.parse::<u8>().is_ok_and(|number| number >= 9)),
            );
            let remote = words
                .windows(2)
                .any(|pair| matches!(pair, ["-h", host] if !matches!(*host, "localhost" | "127.0.0.1")));
            other
                && !remote
                && !words.contains(&"-u")
                && words.iter().any(|word| word.eq_ignore_ascii_case("flushdb"))
        }
        _ => false,
    }
}

/// `DELETE localhost:9200/test-index`.
fn requests_marked(text: &str) -> bool {
    let Some(address) = text.strip_prefix("DELETE ") else { return false };
    let path = address.split(['?', '#']).next().unwrap_or_default();
    path.contains('/') && path.trim_end_matches('/').rsplit('/').next().is_some_and(is_marked)
}

/// Whether a statement, or the words of a tool, destroy only what is marked.
fn drops_marked(text: &str) -> bool {
    const KEYWORDS: [&str; 14] = [
        "drop", "database", "table", "schema", "if", "exists", "cascade", "truncate", "delete", "from",
        "dropdb", "only", "force", "restrict",
    ];
    let words: Vec<String> = text
        .split(|letter: char| !letter.is_ascii_alphanumeric() && !"_-.".contains(letter))
        .filter(|word| !word.is_empty() && !word.starts_with('-'))
        .map(str::to_ascii_lowercase)
        .collect();
    let starts =
        words.first().is_some_and(|word| matches!(word.as_str(), "drop" | "truncate" | "dropdb" | "delete"));
    let mut names = words.iter().filter(|word| !KEYWORDS.contains(&word.as_str())).peekable();
    starts && names.peek().is_some() && names.all(|name| is_marked(name))
}
