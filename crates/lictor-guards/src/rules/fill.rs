//! Reasons and fixes, filled in from the command.

use lictor_core::facts::{Command, Effect, Opaque, OpaqueWhat, Place, Zone};

use super::pack::{Rule, Way, begins};

/// The reason with the object of the effect.
pub(super) fn reason(reason: &str, effect: &Effect<Place>, running: Option<&Command>) -> String {
    let (what, place) = about(effect, running);
    reason.replace("{what}", what.trim()).replace("{place}", place)
}

/// Reason and fix for an opaque part. A part that is only too large is reported as such.
pub(super) fn opaque(rule: &Rule, opaque: &Opaque) -> (String, String) {
    let text = if opaque.text.is_empty() { "it" } else { opaque.text.as_str() };
    match opaque.what {
        OpaqueWhat::Limit => {
            (format!("`{text}` is more than can be looked through"), "do it in smaller steps".to_owned())
        }
        _ => (rule.reason.replace("{what}", text), rule.fix.to_owned()),
    }
}

/// The fix: the first rewrite that applies to the command, or the rule's general fix.
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

/// The rewritten command; `None` when the rewrite does not apply or changes nothing.
pub(crate) fn turned(way: &Way, command: &Command) -> Option<String> {
    if !begins(command, way.words) {
        return None;
    }
    if !way.say.contains("{line}") {
        return Some(way.say.to_owned());
    }
    let args: Option<Vec<&str>> = command.args.iter().map(Option::as_deref).collect();
    let args = args?;
    let mut line = command.program.clone();
    let mut changed = way.swap.is_empty();
    let mut args = args.into_iter();
    while let Some(arg) = args.next() {
        let word = match swapped(way, arg) {
            Some(Swap::Word(to)) => {
                changed = true;
                to
            }
            Some(Swap::WithValue) => {
                args.next();
                String::new()
            }
            None => quoted(arg),
        };
        if !word.is_empty() {
            line.push(' ');
            line.push_str(&word);
        }
    }
    changed.then(|| way.say.replace("{line}", &line))
}

/// The replacement of a word.
enum Swap {
    Word(String),
    /// It is removed together with the value after it.
    WithValue,
}

/// Applies a rewrite to a word: a whole word, a prefix (`--wait=*`), an option that is removed with its value
/// (`--timeout *`), or letters of bundled options.
fn swapped(way: &Way, arg: &str) -> Option<Swap> {
    for (from, to) in way.swap {
        match from.strip_suffix('*') {
            Some(option) if option.strip_suffix(' ') == Some(arg) => return Some(Swap::WithValue),
            Some(start) if !start.ends_with(' ') && arg.starts_with(start) => {
                return Some(Swap::Word((*to).to_owned()));
            }
            None if *from == arg => return Some(Swap::Word((*to).to_owned())),
            _ => {}
        }
    }
    let letters = arg.strip_prefix('-').filter(|letters| crate::normal::is_cluster(letters))?;
    let mut out = String::new();
    let mut changed = false;
    for letter in letters.chars() {
        let from = |from: &str| from.strip_prefix('-').is_some_and(|name| name.chars().eq([letter]));
        let to = way.swap.iter().find(|(name, _)| from(name)).map(|(_, to)| to.trim_start_matches('-'));
        changed |= to.is_some();
        let kept = letter.to_string();
        let to = to.unwrap_or(&kept);
        if !out.contains(to) {
            out.push_str(to);
        }
    }
    changed.then(|| Swap::Word(if out.is_empty() { out } else { format!("-{out}") }))
}

/// A word quoted for a shell.
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
