//! Reasons and fixes with what they are about: made from the command at hand, never canned.

use lictor_core::facts::{Command, Effect, Opaque, OpaqueWhat, Place, Zone};

use super::pack::{Rule, Way, begins};

/// The reason with what it is about.
pub(super) fn reason(reason: &str, effect: &Effect<Place>, running: Option<&Command>) -> String {
    let (what, place) = about(effect, running);
    reason.replace("{what}", what.trim()).replace("{place}", place)
}

/// Reason and fix for what could not be worked out. What is only too large is said to be that.
pub(super) fn opaque(rule: &Rule, opaque: &Opaque) -> (String, String) {
    let text = if opaque.text.is_empty() { "it" } else { opaque.text.as_str() };
    match opaque.what {
        OpaqueWhat::Limit => {
            (format!("`{text}` is more than can be looked through"), "do it in smaller steps".to_owned())
        }
        _ => (rule.reason.replace("{what}", text), rule.fix.to_owned()),
    }
}

/// What to do instead: the first way that the running command can be turned into, or what the rule says to all others.
pub(super) fn fix(rule: &Rule, effect: &Effect<Place>, running: Option<&Command>) -> String {
    if let Some(fix) = running.and_then(|command| rule.ways.iter().find_map(|way| turned(way, command))) {
        return fix;
    }
    if !rule.fix.contains("{what}") {
        return rule.fix.to_owned();
    }
    let (what, _) = about(effect, running);
    rule.fix.replace("{what}", &quoted(what.trim()))
}

/// The command in another way; `None` when the way is not about it or changes nothing.
pub(crate) fn turned(way: &Way, command: &Command) -> Option<String> {
    if !begins(command, way.words) {
        return None;
    }
    if !way.say.contains("{line}") {
        return Some(way.say.to_owned());
    }
    let args: Option<Vec<&str>> = command.args.iter().map(Option::as_deref).collect();
    let args = args?;
    let swapped = |arg: &str| way.swap.iter().find(|(from, _)| *from == arg).map(|(_, to)| *to);
    if !way.swap.is_empty() && !args.iter().any(|arg| swapped(arg).is_some()) {
        return None;
    }
    let mut line = command.program.clone();
    for arg in args {
        let word = swapped(arg).map_or_else(|| quoted(arg), str::to_owned);
        if !word.is_empty() {
            line.push(' ');
            line.push_str(&word);
        }
    }
    Some(way.say.replace("{line}", &line))
}

/// A word as a shell takes it for itself.
fn quoted(word: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "_-./:=@%+,~{}*?".contains(c);
    if !word.is_empty() && word.chars().all(plain) {
        return word.to_owned();
    }
    format!("'{}'", word.replace('\'', r"'\''"))
}

fn about(effect: &Effect<Place>, running: Option<&Command>) -> (String, &'static str) {
    match effect {
        Effect::File { target, .. } => (target.text.clone(), zone_name(target)),
        Effect::Git { target, .. } => {
            let words = running.map(crate::normal::text);
            let words = words.as_deref().and_then(|words| words.strip_prefix("git ")).map(str::to_owned);
            (words.or_else(|| target.clone()).unwrap_or_default(), "")
        }
        Effect::Database { text, .. } | Effect::Flow { text, .. } | Effect::GuardOff { text, .. } => {
            (text.clone(), "")
        }
        Effect::Infrastructure { tool, what, .. } => (format!("{tool} {what}"), ""),
        Effect::Publish { tool } => {
            let own = running.filter(|command| command.program == *tool).map(crate::normal::text);
            (own.unwrap_or_else(|| format!("{tool} publish")), "")
        }
        Effect::Run(command) => (crate::normal::text(command), ""),
        Effect::Reach(reach) => (reach.text.clone(), ""),
        Effect::Code { language, .. } => (language.clone(), ""),
        Effect::Delegate { agent } => (agent.clone(), ""),
        Effect::Deed { verb, object, .. } if object == "tool" => (format!("{verb} a tool"), ""),
        Effect::Deed { verb, object, .. } => (format!("{verb} {object}"), ""),
        _ => (String::new(), ""),
    }
}

fn zone_name(place: &Place) -> &'static str {
    let name = |zone| match zone {
        Zone::ProjectRoot => "the whole project",
        Zone::GitDir => "the repository's own directory",
        Zone::Project => "the project",
        Zone::Temp => "a temporary directory",
        Zone::TempRoot => "all temporary files",
        Zone::HomeRoot => "a home directory",
        Zone::Home => "the home directory",
        Zone::Root => "the whole file system",
        Zone::System => "the system",
        Zone::Device | Zone::HarmlessDevice => "a device",
        Zone::Outside => "another place",
        Zone::Unknown => "an unknown place",
    };
    let harmless = matches!(place.zone, Zone::Project | Zone::Temp);
    name(if harmless { place.real_zone } else { place.zone })
}

#[cfg(test)]
mod tests;
