//! The guardian is killed at any moment: what it has acknowledged is on record.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;
use std::process::Command;
use std::thread;
use std::time::{Duration, Instant};

use super::{can_run, world};

/// Sends events until it is killed or gets no answer, and records each that was answered.
const AGENT: &str = r#"
n=0
while :; do
  n=$((n + 1)); id="k$1-$n"
  printf '{"hook_event_name":"PreToolUse","session_id":"%s","cwd":"%s","tool_name":"Bash","tool_input":{"command":"ls"}}' \
    "$id" "$PWD" | "$LICTOR" hook claude-code 2>/dev/null || exit
  echo "$id" >> acknowledged
done
"#;

fn lines(file: &Path) -> u64 {
    fs::read_to_string(file).unwrap().lines().count() as u64
}

fn wait_for_lines(file: &Path, wanted: u64) {
    let start = Instant::now();
    while lines(file) < wanted {
        assert!(start.elapsed() < Duration::from_secs(120), "no answer from the guardian");
        thread::sleep(Duration::from_millis(2));
    }
}

/// `cargo xtask soak` sets how many.
#[test]
fn nothing_that_was_acknowledged_is_lost() {
    can_run();
    let kills: u64 =
        std::env::var("LICTOR_GUARDIAN_KILLS").ok().and_then(|text| text.parse().ok()).unwrap_or(6);
    let mut sandbox = world();
    sandbox.set("LICTOR", env!("CARGO_BIN_EXE_lictor"));
    sandbox.write("agent.sh", AGENT);
    sandbox.write("acknowledged", "");
    let acknowledgements = sandbox.project().join("acknowledged");
    for kill in 0..kills {
        let before = lines(&acknowledgements);
        let mut child = sandbox.start(&["run", "--", "sh", "agent.sh", &kill.to_string()]);
        // After some answers, then anywhere in the next one: waiting for answers keeps a slow machine from proving
        // nothing, the odd milliseconds reach the middle of an answer.
        let moment =
            kill.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407) >> 33;
        wait_for_lines(&acknowledgements, before + moment % 4);
        thread::sleep(Duration::from_millis(moment / 4 % 40));
        assert!(Command::new("kill").args(["-KILL", &child.id().to_string()]).status().unwrap().success());
        child.wait().unwrap();
    }
    let acknowledged = fs::read_to_string(&acknowledgements).unwrap();
    let acknowledged: BTreeSet<&str> = acknowledged.lines().collect();
    assert!(acknowledged.len() as u64 >= kills / 2, "too few events to prove anything: {acknowledged:?}");
    assert_eq!(sandbox.lictor(&["audit", "verify"]).code, 0);
    let record = sandbox.lictor(&["audit", "export"]).stdout;
    let lost: Vec<&&str> = acknowledged.iter().filter(|id| !record.contains(&format!("\"{id}\""))).collect();
    assert!(lost.is_empty(), "{} of {} lost: {lost:?}", lost.len(), acknowledged.len());
    println!("{kills} kills, {} events acknowledged, none lost", acknowledged.len());
}
