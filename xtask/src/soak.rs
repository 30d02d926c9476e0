//! What takes too long for every change: run before saying that the record never forgets.

use anyhow::Result;

use crate::shell;

/// Kills writers of the store and of the ledger, the guardian of `lictor run`, the server and its database at random points,
/// looks at every view of the page with a million records, has two processes race for one grant, many times over, and works
/// through 300 sessions of a scripted agent.
pub fn run() -> Result<()> {
    shell::run("env", &["LICTOR_STORE_KILLS=520", "cargo", "test", "--locked", "--package", "lictor-store"])?;
    let guardian = [
        "cargo",
        "test",
        "--locked",
        "--package",
        "lictor-cli",
        "--test",
        "cli",
        "kills::",
        "--",
        "--nocapture",
    ];
    let args: Vec<&str> = ["LICTOR_GUARDIAN_KILLS=500"].into_iter().chain(guardian).collect();
    shell::run("env", &args)?;
    let server = ["cargo", "test", "--locked", "--package", "lictor-server", "--test", "server", "faults::"];
    let args: Vec<&str> = ["LICTOR_SERVER_KILLS=200"].into_iter().chain(server).collect();
    shell::run("env", &args)?;
    shell::run("env", &["UI_RECORDS=1000000", "cargo", "xtask", "ui-test", "with many records"])?;
    let ledger =
        ["test", "--locked", "--package", "lictor-ledger", "--test", "processes", "--", "--ignored", "soak"];
    shell::run("cargo", &ledger)?;
    let grants =
        ["test", "--locked", "--package", "lictor-engine", "--test", "protocol", "--", "--ignored", "soak"];
    shell::run("cargo", &grants)?;
    let month =
        ["test", "--locked", "--package", "lictor-cli", "--test", "cli", "--", "--ignored", "a_whole_month"];
    shell::run("cargo", &month)
}
