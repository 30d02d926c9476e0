//! Infinite loops that only start processes or fill a disk, and remote shells, in any language.

use crate::call::Report;

/// Reports what a body does by its form alone.
pub(super) fn judge(body: &str, report: &mut Report) {
    if gives_shell_away(body) {
        report.flow(lictor_core::facts::FlowSource::Network, lictor_core::facts::FlowSink::Shell, body);
    }
    if kills_at_random(body) {
        report.process(lictor_core::facts::ProcessEffect::KillAll);
    }
    if super::bombs::fills_memory(body) {
        report.deed("exhaust", "memory");
    }
    if super::bombs::starts_too_many(body) {
        report.process(lictor_core::facts::ProcessEffect::ForkBomb);
    }
    if !["while", "for", "loop", "until", "iter("].iter().any(|word| body.contains(word)) {
        return;
    }
    let code = without_quotes(body);
    let forks_on = forks_in_condition(&code);
    let endless = crate::words::ENDLESS_LOOPS.iter().any(|start| code.contains(start))
        || super::bombs::counts_too_far(body)
        || forks_on;
    // A loop that only makes processes is none the better for their sleep.
    let forks = code.contains("fork");
    if !endless || WAITS.iter().any(|word| code.contains(word) && !(forks && *word == "sleep")) {
        return;
    }
    let has = |words: &[&str]| words.iter().any(|word| code.contains(word));
    let in_background = ["&'", "&\"", "& '", "& \"", "nohup "].iter().any(|end| body.contains(end));
    if has(&["fork"])
        || has(&["Process(", "Thread(", "Popen(", "spawn("]) && !has(CHOOSES)
        || in_background && has(&["system(", "popen(", ".execute("]) && !has(CHOOSES)
    {
        report.process(lictor_core::facts::ProcessEffect::ForkBomb);
    } else if !has(CHOOSES) && (has(GROWS) || doubles(&code)) {
        report.deed("exhaust", "memory");
    } else if has(&[".write(", "appendFile", "fwrite(", "file_put_contents", "IO.write"]) && !has(CHOOSES) {
        report.deed("exhaust", "disk");
    } else if (has(crate::words::CODE_FLOODS) || has(CLIENTS) && has(CALLS))
        && !has_word(body, "if")
        && !["localhost", "127.0.0.1"].iter().any(|own| body.contains(own))
    {
        report.deed("attack", "machine");
    }
}

/// Whether the condition of a loop forks: the parent gets the child's pid, which is true, so the loop continues.
fn forks_in_condition(code: &str) -> bool {
    ["while", "until"].iter().flat_map(|word| code.split(word).skip(1)).any(|rest| {
        let condition = rest.split([':', '{', ';', '\n']).next().unwrap_or_default();
        condition.contains("fork") && !condition.contains("wait")
    })
}

/// Operations that make values longer in every round.
const GROWS: &[&str] = &[
    ".append(", ".extend(", ".push(", "+=[", "*=2", ".add(", "<<*", ".=", "++]=", "[#", "<<Buffer",
    ".concat(",
];
/// Names of network clients; queues and dictionaries have functions of the same names.
const CLIENTS: &[&str] = &["socket", "Session(", "aiohttp", "httpx", "http.client", "Net::HTTP"];
const CALLS: &[&str] = &[".get(", ".post(", ".connect(", ".request("];

/// `a += a`, `a = a + a`, `d[i] = …` with a counter: twice as long, or one more, in every round.
fn doubles(code: &str) -> bool {
    let name = |letter: char| letter.is_alphanumeric() || letter == '_' || letter == '$';
    let doubled = code.match_indices("+=").any(|(at, _)| {
        let left = code.get(..at).unwrap_or_default();
        let left = left.rsplit(|letter| !name(letter)).next().unwrap_or_default();
        let right = code.get(at + 2..).unwrap_or_default();
        let right = right.split(|letter| !name(letter)).next().unwrap_or_default();
        !left.is_empty() && (left == right || left.ends_with(right) && right.len() == 1)
    });
    doubled || code.contains("]=") && code.contains("+=1")
}

/// Whether code contains this as a whole word.
fn has_word(body: &str, word: &str) -> bool {
    body.split(|letter: char| !letter.is_alphanumeric() && letter != '_').any(|found| found == word)
}

/// Whether processes that the code did not start are ended, picked by chance or one after the other.
fn kills_at_random(body: &str) -> bool {
    const ENDS: [&str; 6] = [".kill(", ".terminate(", ".suspend(", "'kill'", "\"kill\"", "kill -"];
    const CHANCE: [&str; 4] = ["random.choice(", "random.sample(", "random.randint(", "random.shuffle("];
    const VITAL: [&str; 7] = ["systemd", "'init'", "\"init\"", "sshd", "'ssh'", "dbus-daemon", "launchd"];
    let has = |words: &[&str]| words.iter().any(|word| body.contains(word));
    if !has(&ENDS) {
        return false;
    }
    let counted = body.contains("in range(") && super::bombs::counts_past(body, 1000.0);
    let listed = counted
        || has(crate::words::CODE_LISTS_PROCESSES)
        || body.contains("'ps'")
        || body.contains("\"ps\"");
    let chosen = body.replace(".isdigit()", "").replace(".isnumeric()", "");
    let chooses = chosen.split("if ").skip(1).any(|condition| {
        // `if p]`, `if pid:`: what is left of a test for digits.
        condition.split([']', ':', '\n']).next().is_some_and(|test| {
            // Leaving itself out is no choice.
            test.trim().contains([' ', '(', '=']) && !test.contains("getpid")
        })
    });
    listed && (has(&CHANCE) || has(&VITAL) || !chooses && body.contains("for "))
}

/// Words that make loops wait or end.
const WAITS: [&str; 6] = ["wait", "accept", "exit", "break", "sleep", "return"];
/// Words that may make loops wait or end.
const CHOOSES: &[&str] =
    &["if", ".read", "readline", "recv", "input(", "join(", ".get(", "poll", "communicate", "next("];

/// Code without blanks and quoted text.
fn without_quotes(body: &str) -> String {
    let mut code = String::with_capacity(body.len());
    let mut quote = None;
    for letter in body.chars() {
        match quote {
            Some(open) if letter == open => quote = None,
            Some(_) => {}
            None if matches!(letter, '"' | '\'' | '`') => quote = Some(letter),
            None if letter.is_whitespace() => {}
            None => code.push(letter),
        }
    }
    code
}

/// Whether a body is a reverse shell: it connects to another machine and starts a shell.
fn gives_shell_away(body: &str) -> bool {
    crate::words::CODE_CONNECTS.iter().any(|word| body.contains(word))
        && crate::words::CODE_SHELLS.iter().any(|word| body.contains(word))
}
