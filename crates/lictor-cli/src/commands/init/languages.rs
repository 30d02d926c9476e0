//! Which languages a repository is written in, told by the files that build it.

use std::path::Path;

/// A language, with the commands that its projects are checked by.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Language {
    /// Its name.
    pub name: &'static str,
    /// Files whose presence tells it.
    files: &'static [&'static str],
    /// The command that runs its tests.
    pub test: &'static [&'static str],
    /// Where its sources usually are.
    pub sources: &'static [&'static str],
}

/// In the order in which they are looked for; the first found gives the examples.
const LANGUAGES: [Language; 8] = [
    Language { name: "Rust", files: &["Cargo.toml"], test: &["cargo", "test"], sources: &["src", "tests"] },
    Language {
        name: "Python",
        files: &["pyproject.toml", "setup.py", "setup.cfg", "requirements.txt"],
        test: &["pytest"],
        sources: &["src", "tests"],
    },
    Language {
        name: "Go",
        files: &["go.mod"],
        test: &["go", "test", "./..."],
        sources: &["cmd", "internal"],
    },
    Language { name: "Java", files: &["pom.xml"], test: &["mvn", "test"], sources: &["src"] },
    Language {
        name: "Kotlin or Java",
        files: &["build.gradle", "build.gradle.kts"],
        test: &["./gradlew", "test"],
        sources: &["src"],
    },
    Language {
        name: "Ruby",
        files: &["Gemfile"],
        test: &["bundle", "exec", "rspec"],
        sources: &["lib", "spec"],
    },
    Language {
        name: "PHP",
        files: &["composer.json"],
        test: &["vendor/bin/phpunit"],
        sources: &["src", "tests"],
    },
    Language {
        name: "JavaScript or TypeScript",
        files: &["package.json", "deno.json", "tsconfig.json"],
        test: &["npm", "test"],
        sources: &["src", "test"],
    },
];

/// The languages of a project.
pub fn found(root: &Path) -> Vec<Language> {
    let there = |language: &Language| language.files.iter().any(|file| root.join(file).is_file());
    LANGUAGES.into_iter().filter(there).collect()
}
