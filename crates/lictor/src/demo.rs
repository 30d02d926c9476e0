//! The demo session of `lictor demo` and the page.

/// The policy of the demonstration.
pub const POLICY: &str = r#"version: 1
boundaries:
  red_line_files: ["**/.env"]
tools:
  require_first: {bash("git push"): [bash("cargo test")]}
  invalidate: {write: [bash("cargo test")]}
policies:
  - name: bulk-delete
    on: {verb: delete, object: file}
    cardinality: multiple
    requires_confirmation: true
    message: "{verb} {count} {object}s"
feedback:
  - {name: plan, on_file_created: PLAN.md, say: "Follow PLAN.md and tick items off."}
completion:
  all:
    - files: [CHANGELOG.md]
"#;
