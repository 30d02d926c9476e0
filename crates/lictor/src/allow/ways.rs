//! Advice for actions that no exception can lift: which setting to change, in which file and line.

use lictor_config::{Setting, Source};
use lictor_engine::guards::Pack;

use super::{AllowError, Stop};

/// The advice for an action that no exception lifts.
pub(super) fn no_way(sources: &[Source], rule: &str, stopped: &[Stop]) -> AllowError {
    let settings = lictor_config::load(sources).map(|loaded| loaded.settings()).unwrap_or_default();
    // An `ask` can be answered; a block has to be changed first.
    let hardest = stopped.iter().find(|stop| !stop.asks).or(stopped.first());
    let way = hardest.map_or_else(
        || "change the rule itself in the policy, or do this yourself".to_owned(),
        |stop| way(&settings, stop),
    );
    let rule = hardest.and_then(|stop| stop.rule.clone()).unwrap_or_else(|| rule.to_owned());
    AllowError::NoWay { rule, way }
}

fn way(settings: &[Setting], stop: &Stop) -> String {
    let guard = stop.guard.rsplit('.').next().unwrap_or_default();
    let rule = stop.rule.as_deref().unwrap_or(guard);
    let at = |place: Option<&Setting>| place.map(shown).unwrap_or_default();
    if rule.starts_with("require_first") {
        let place = settings.iter().find(|setting| setting.path.contains("require_first."));
        return format!(
            "let what it requires run first, or take the requirement out of `tools.require_first`{}",
            at(place)
        );
    }
    if rule.starts_with("red_line") || rule.starts_with("blocked_path") {
        let glob = stop.reason.rsplit('`').nth(1).unwrap_or_default();
        let place =
            settings.iter().find(|setting| setting.path.starts_with("boundaries.") && setting.value == glob);
        return format!("narrow `{glob}` in `boundaries`{}, or do this yourself", at(place));
    }
    if let Some(limit) = limit(settings, guard, &stop.reason) {
        return format!(
            "it counts for this session: raise `{}`{}, or begin a new session",
            limit.path,
            shown(limit)
        );
    }
    let place = own(settings, rule, guard);
    match (stop.asks, place) {
        (true, None) => "`lictor approve` answers it".to_owned(),
        (true, Some((name, place))) => {
            format!("`lictor approve` answers it; to be asked no more, change `{name}`{}", shown(place))
        }
        (false, Some((name, place))) => format!("change `{name}`{}, or do this yourself", shown(place)),
        (false, None) if is_built_in(rule) => "it is built in, so do this yourself".to_owned(),
        (false, None) => "change the rule itself in the policy, or do this yourself".to_owned(),
    }
}

/// The limit that is reached.
fn limit<'a>(settings: &'a [Setting], guard: &str, reason: &str) -> Option<&'a Setting> {
    let section = ["budget", "rate_limit"].into_iter().find(|section| guard.starts_with(section))?;
    let of_section: Vec<&Setting> =
        settings.iter().filter(|setting| setting.path.starts_with(section)).collect();
    let counted =
        ["actions", "tasks", "minutes", "tokens", "cost"].into_iter().find(|what| reason.contains(what));
    let meant =
        |setting: &&&Setting| counted.is_some_and(|what| setting.path.ends_with(&format!("max_{what}")));
    let first = of_section.first().copied();
    of_section.iter().find(meant).copied().or(first)
}

/// The policy file entry that defines a rule or a guard, with its name there.
fn own<'a>(settings: &'a [Setting], rule: &str, guard: &str) -> Option<(String, &'a Setting)> {
    let named = |setting: &&Setting| setting.path.ends_with(".name") && setting.value == rule;
    if let Some(place) = settings.iter().find(named) {
        return Some((rule.to_owned(), place));
    }
    for (prefix, name) in
        [(format!("guards.{guard}."), guard), (format!("{guard}."), guard), (format!("{guard}["), guard)]
    {
        if let Some(place) = settings.iter().find(|setting| setting.path.starts_with(&prefix)) {
            return Some((name.to_owned(), place));
        }
    }
    None
}

fn is_built_in(rule: &str) -> bool {
    Pack::all().iter().flat_map(|pack| pack.rules()).any(|known| known.id == rule)
}

/// ` (governance.yaml:7)`; empty for built-in settings.
fn shown(setting: &Setting) -> String {
    match (&setting.file, setting.line) {
        (Some(file), Some(line)) => format!(" ({file}:{line})"),
        _ => String::new(),
    }
}
