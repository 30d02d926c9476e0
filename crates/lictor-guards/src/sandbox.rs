//! What code may import and call. A check of the syntax tree: it catches mistakes and simple attempts; it is not
//! an operating-system sandbox.

use std::collections::BTreeSet;

use lictor_core::facts::Effect;
use lictor_core::{Action, Context, Guard, Layer, Verdict};
use lictor_shell::languages::{self, CodeScan};
use serde::{Deserialize, Serialize};

/// Python modules that reach out of the program.
const PYTHON_IMPORTS: [&str; 12] = [
    "os",
    "sys",
    "subprocess",
    "socket",
    "shutil",
    "ctypes",
    "importlib",
    "multiprocessing",
    "pty",
    "signal",
    "pickle",
    "builtins",
];
/// Python functions that run or load code that is not in the text.
const PYTHON_CALLS: [&str; 9] =
    ["eval", "exec", "compile", "__import__", "open", "globals", "locals", "vars", "breakpoint"];
/// Attributes through which any value gives access to everything else.
const PYTHON_ATTRIBUTES: [&str; 10] = [
    "__class__",
    "__bases__",
    "__mro__",
    "__subclasses__",
    "__globals__",
    "__builtins__",
    "__code__",
    "__dict__",
    "__getattribute__",
    "__reduce__",
];
/// The same for JavaScript and TypeScript.
const JS_IMPORTS: [&str; 11] = [
    "fs",
    "child_process",
    "net",
    "http",
    "https",
    "dgram",
    "cluster",
    "vm",
    "worker_threads",
    "os",
    "process",
];
const JS_CALLS: [&str; 4] = ["eval", "Function", "process.exit", "process.binding"];
const JS_ATTRIBUTES: [&str; 3] = ["__proto__", "constructor", "mainModule"];

/// The configuration of `sandbox:`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct SandboxConfig {
    /// Languages that may be used. Absent: Python, JavaScript and TypeScript, which can be parsed.
    pub languages: Option<Vec<String>>,
    /// What code may not use. An absent list is the built-in one; an empty list forbids nothing.
    pub forbid: Forbid,
}

/// What code may not use.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Forbid {
    /// Modules, and everything below them.
    pub imports: Option<Vec<String>>,
    /// Functions, as written in the code.
    pub calls: Option<Vec<String>>,
    /// Attributes.
    pub attributes: Option<Vec<String>>,
}

/// Judges `execute_code` and the inline code of commands (`python -c`, here-documents into an interpreter).
#[derive(Debug, Clone, Default)]
pub struct Sandbox {
    config: SandboxConfig,
}

impl Sandbox {
    /// A guard with that configuration.
    #[must_use]
    pub fn new(config: SandboxConfig) -> Self {
        Self { config }
    }

    fn judge(&self, language: &str, body: &str) -> Option<Verdict> {
        let allowed = match &self.config.languages {
            Some(languages) => languages.iter().any(|allowed| allowed == language),
            None => matches!(language, "python" | "javascript" | "typescript"),
        };
        if !allowed {
            return Some(Verdict::block(
                format!("code in `{language}` may not be run"),
                format!("write it in {}", self.languages()),
            ));
        }
        let scan = languages::scan(language, body);
        if !scan.complete || !scan.parse_ok {
            let problem =
                if scan.complete { "is not valid in its language" } else { "is longer than can be read" };
            return Some(Verdict::block(
                format!("the {language} code {problem}, so that it cannot be judged"),
                "run a shorter piece of plain, valid code",
            ));
        }
        self.forbidden(language, &scan).map(|(what, name)| {
            Verdict::block(
                format!("the {language} code uses the {what} `{name}`, which is forbidden"),
                "compute with values and print the result; leave files, processes and the network to tools",
            )
        })
    }

    fn forbidden(&self, language: &str, scan: &CodeScan) -> Option<(&'static str, String)> {
        let (imports, calls, attributes): (&[&str], &[&str], &[&str]) = match language {
            "python" => (&PYTHON_IMPORTS, &PYTHON_CALLS, &PYTHON_ATTRIBUTES),
            _ => (&JS_IMPORTS, &JS_CALLS, &JS_ATTRIBUTES),
        };
        let Forbid { imports: own_imports, calls: own_calls, attributes: own_attributes } =
            &self.config.forbid;
        let module = |name: &str| name.strip_prefix("node:").unwrap_or(name).to_owned();
        let imported: BTreeSet<String> = scan.imports.iter().map(|name| module(name)).collect();
        named(&imported, own_imports.as_deref(), imports, is_at_or_below)
            .map(|name| ("module", name))
            .or_else(|| {
                named(&scan.names, own_calls.as_deref(), calls, |is, no| is == no)
                    .map(|name| ("function", name))
            })
            .or_else(|| {
                named(&scan.calls, own_calls.as_deref(), calls, |is, no| is == no)
                    .map(|name| ("function", name))
            })
            .or_else(|| {
                let used = scan.attributes.union(&scan.dunders).cloned().collect();
                named(&used, own_attributes.as_deref(), attributes, |is, no| is == no)
                    .map(|name| ("attribute", name))
            })
    }

    fn languages(&self) -> String {
        match &self.config.languages {
            Some(languages) => languages.join(", "),
            None => "python, javascript or typescript".to_owned(),
        }
    }
}

/// The first used name that a list forbids.
fn named(
    used: &BTreeSet<String>,
    own: Option<&[String]>,
    built_in: &[&str],
    fits: fn(&str, &str) -> bool,
) -> Option<String> {
    let forbids = |name: &str| match own {
        Some(own) => own.iter().any(|no| fits(name, no)),
        None => built_in.iter().any(|no| fits(name, no)),
    };
    used.iter().find(|name| forbids(name)).cloned()
}

fn is_at_or_below(module: &str, forbidden: &str) -> bool {
    module.strip_prefix(forbidden).is_some_and(|rest| rest.is_empty() || rest.starts_with(['.', '/']))
}

impl Guard for Sandbox {
    fn name(&self) -> &str {
        "sandbox"
    }

    fn check(&self, _action: &Action, context: &mut Context<'_>) -> Verdict {
        let effects = &context.facts().effects;
        let found = effects.iter().filter_map(|effect| match effect {
            Effect::Code { language, body } => self.judge(language, body),
            _ => None,
        });
        let found: Vec<Verdict> = found.take(8).collect();
        context.report(found)
    }

    fn layer(&self) -> Layer {
        Layer::Boundary
    }
}

#[cfg(test)]
mod tests;
