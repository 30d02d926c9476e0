//! Tools of git servers: each is judged as the command that it runs.

use lictor_core::Action;
use serde_json::Value;

use super::tools::quoted;

/// Fields with the path of the repository.
const PLACES: [&str; 6] = ["repo_path", "repository", "repo", "path", "cwd", "working_directory"];
/// Fields with a commit, a branch or a remote, in git's argument order.
const NAMES: [&str; 15] = [
    "remote",
    "branch_name",
    "branch",
    "target",
    "revision",
    "ref",
    "commit",
    "commit_hash",
    "stash",
    "base_branch",
    "start_point",
    "onto",
    "upstream",
    "source",
    "operation",
];
/// Fields with paths or words of the command.
const LISTS: [&str; 6] = ["args", "options", "flags", "files", "paths", "pathspec"];

/// The command line that is equivalent to a tool such as `git_checkout` of a git server.
pub(super) fn line(action: &Action, server: Option<&str>, name: &str) -> Option<String> {
    let server = server?.to_ascii_lowercase();
    let is_git =
        server.contains("git") && !["github", "gitlab", "gitea"].iter().any(|forge| server.contains(forge));
    let verb = name.strip_prefix("git_").or_else(|| name.strip_prefix("git-")).filter(|_| is_git)?;
    let verb = verb.replace('_', "-");
    let text = |field: &str| action.text(field).filter(|text| !text.is_empty());
    let mut words: Vec<String> = vec!["git".to_owned()];
    if let Some(place) = PLACES.iter().find_map(|field| text(field)) {
        words.extend(["-C".to_owned(), place.to_owned()]);
    }
    words.push(if verb == "create-branch" { "branch".to_owned() } else { verb });
    for (field, value) in &action.payload {
        match value {
            Value::Bool(true) => words.push(format!("--{}", field.replace('_', "-"))),
            Value::String(mode) if field == "mode" => words.push(format!("--{mode}")),
            Value::String(message) if field == "message" => words.extend(["-m".to_owned(), message.clone()]),
            _ => {}
        }
    }
    words.extend(NAMES.iter().filter_map(|field| text(field)).map(str::to_owned));
    for field in LISTS {
        let list = action.payload.get(field).and_then(Value::as_array).into_iter().flatten();
        words.extend(list.filter_map(Value::as_str).map(str::to_owned));
    }
    Some(quoted(&words.iter().map(String::as_str).collect::<Vec<_>>()))
}
