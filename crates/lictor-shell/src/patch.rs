//! Patches as file effects: the bodies of Codex's `apply_patch` and plain unified diffs.
