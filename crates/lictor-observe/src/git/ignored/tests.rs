use super::covers;

#[test]
fn patterns_fit_as_in_git() {
    for (pattern, path, fits) in [
        ("settings.local.json", ".claude/settings.local.json", true),
        (".claude/", ".claude/settings.json", true),
        ("/.claude", ".claude/settings.json", true),
        ("/settings.json", ".claude/settings.json", false),
        ("*.local.*", ".claude/settings.local.json", true),
        ("**/settings.local.json", ".claude/settings.local.json", true),
        (".claude/*.json", ".claude/settings.json", true),
        ("governance.yaml/", "governance.yaml", false),
        ("build", "builds/a", false),
    ] {
        assert_eq!(covers(pattern, path), fits, "{pattern} {path}");
    }
}
