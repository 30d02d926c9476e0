//! Chores of this repository. `cargo xtask help` lists them.

mod agents;
mod api;
mod bench;
mod dist;
mod frameworks;
mod fuzz;
mod govbench;
mod install;
mod lint;
mod mcp;
mod namespace;
mod pictures;
mod python;
mod release;
mod setup;
mod shell;
mod soak;
mod supply;
mod test;
mod ui_test;

use std::process::ExitCode;

use anyhow::{Result, bail};

const HELP: &str = "\
cargo xtask <chore>

  pictures        draw docs/pictures anew from real runs of the command and of the page; every view of the page in both widths
                  and themes goes to target/pictures (needs Chromium and Node)
  install         build the release binary (or take --binary FILE), put it into ~/.local/bin (--to DIR) and run
                  `lictor init` in the current repository (--repo DIR); --server builds `lictor-server` too; other
                  arguments go to `init`: --yes, --git, --agent NAME
  dist            build what people install without Rust into dist/: archives, npm packages, the wheel; --all for every target;
                  `dist try` installs those for this machine in homes of their own, with every Python that is here, and runs them
  setup           install the programs that the tests start (PostgreSQL, bubblewrap, Chromium, Node), where they are missing
  test            everything a change must pass: setup, lint, all tests, doc tests (what .ci/run calls)
  python          build the Python package for this machine, check its types, run its tests; `python bench` says what it
                  costs beside peers (--check holds the promises)
  frameworks      each adapter for an agent framework against the real package with a scripted model; [name…]
  ui-test [words] the page in a real browser, with real hooks that wait (needs Chromium and Node; part of `test`);
                  --pictures takes the pictures of the page alone
  lint            format, clippy, purity of the pure crates, direction of dependencies, licences
  advisories      known security advisories against the locked dependencies (needs cargo-deny and a network)
  msrv            compile with the oldest Rust that Cargo.toml promises (needs that toolchain)
  corpus          judge the labelled commands, count what is known of programs, and write both into docs/shell-safety.md
  order           find out anew which functions a hook runs, so that they stand side by side in the release binary (needs valgrind)
  api             call every address of the server with what its OpenAPI document allows and forbids (schemathesis, from PyPI):
                  nothing fails inside, nothing is undocumented; --examples N for each address, 30 if not said
  govbench        the runner for AgentGovBench on a real server: all 48 scenarios (needs python3; part of `test`)
  soak            kill writers of the record at random points, many times over
  fuzz [target]   look for inputs that break what must hold for every input; --seconds N for each target, 60 if not said
  agents [name]   run the real agents, governed, against scripted model servers, and write the matrix in docs/agents.md;
                  --session ID for one session, --planted for a hook that judges nothing, --keep to keep its files in target/agents/run (needs npm, unshare, ip)
  mcp [name]      real MCP servers behind `lictor mcp run`: what passes is what they say without it; `bench` for what it
                  costs (--lictor PATH for a release build) (needs npm, python3, unshare, ip)
  bench [what]    release figures, written into docs/benchmarks.md: shell, store, session, ledger, rpc, record, peers, hook, guardian, server; `all` of
                  them when none is named; hook takes --rounds N, --lictor PATH, --peer NAME=COMMAND; server takes
                  --seconds N, --records N, --only evaluate,ingest,views,release, --lictor PATH (needs npm, Chromium)
";

const CORPUS: [&str; 8] =
    ["run", "--quiet", "--package", "lictor-guards", "--example", "judge_corpus", "--", "--docs"];

fn main() -> ExitCode {
    match chore() {
        Ok(()) => ExitCode::SUCCESS,
        // The causes say what to do; where in this program they were met does not.
        Err(error) => {
            eprintln!("error: {error:#}");
            ExitCode::FAILURE
        }
    }
}

fn chore() -> Result<()> {
    let mut args = std::env::args().skip(1);
    let chore = args.next();
    let rest: Vec<String> = args.collect();
    match (chore.as_deref(), rest.as_slice()) {
        (Some("test"), []) => test::run(),
        (Some("frameworks"), names) => frameworks::run(names),
        (Some("python"), []) => python::test(),
        (Some("python"), [what, rest @ ..]) if what == "bench" => {
            python::bench(&rest.iter().map(String::as_str).collect::<Vec<_>>())
        }
        (Some("ui-test"), words) => ui_test::run(words),
        (Some("setup"), []) => setup::run(),
        (Some("advisories"), []) => supply::advisories(),
        (Some("msrv"), []) => supply::msrv(),
        (Some("lint"), []) => lint::run(),
        (Some("install"), args) => install::run(args),
        (Some("dist"), args) => dist::run(args),
        (Some("pictures"), []) => {
            pictures::run(false).and_then(|()| ui_test::run(&["--pictures".to_owned()]))
        }
        (Some("corpus"), []) => shell::run("cargo", &CORPUS),
        (Some("order"), []) => release::order(),
        (Some("api"), args) => api::run(args),
        (Some("govbench"), []) => govbench::run(),
        (Some("soak"), []) => soak::run(),
        (Some("fuzz"), args) => fuzz::run(args),
        (Some("agents"), args) => agents::run(args),
        (Some("mcp"), args) => mcp::run(args),
        (Some("bench"), what) => bench::run(what),
        (None | Some("help" | "--help" | "-h"), []) => {
            print!("{HELP}");
            Ok(())
        }
        _ => bail!("no such chore; `cargo xtask help` lists them"),
    }
}
