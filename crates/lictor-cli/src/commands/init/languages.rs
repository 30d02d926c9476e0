//! Which languages and frameworks a repository is written in, told by the files that build it, and what a new policy says
//! about each.

use std::path::Path;

/// A language or framework, with the commands that its projects are checked by.
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
    /// Files with secrets that every such project has, beside `.env`.
    pub secrets: &'static [&'static str],
}

/// A language without secret files of its own.
const PLAIN: Language = Language { name: "", files: &[], test: &[], sources: &[], secrets: &[] };

/// In the order in which they are looked for; the first found gives the examples. Frameworks come before their language.
const LANGUAGES: [Language; 10] = [
    Language {
        name: "Django",
        files: &["manage.py"],
        test: &["python", "manage.py", "test"],
        sources: &["src", "tests"],
        secrets: &["**/local_settings.py"],
    },
    Language {
        name: "Rails",
        files: &["config/application.rb"],
        test: &["bin/rails", "test"],
        sources: &["app", "lib", "test"],
        secrets: &["config/master.key", "config/credentials/*.key"],
    },
    Language {
        name: "Rust",
        files: &["Cargo.toml"],
        test: &["cargo", "test"],
        sources: &["src", "tests"],
        ..PLAIN
    },
    Language {
        name: "Python",
        files: &["pyproject.toml", "setup.py", "setup.cfg", "requirements.txt"],
        test: &["pytest"],
        sources: &["src", "tests"],
        ..PLAIN
    },
    Language {
        name: "Go",
        files: &["go.mod"],
        test: &["go", "test", "./..."],
        sources: &["cmd", "internal"],
        ..PLAIN
    },
    Language { name: "Java", files: &["pom.xml"], test: &["mvn", "test"], sources: &["src"], ..PLAIN },
    Language {
        name: "Kotlin or Java",
        files: &["build.gradle", "build.gradle.kts"],
        test: &["./gradlew", "test"],
        sources: &["src"],
        ..PLAIN
    },
    Language {
        name: "Ruby",
        files: &["Gemfile"],
        test: &["bundle", "exec", "rspec"],
        sources: &["lib", "spec"],
        ..PLAIN
    },
    Language {
        name: "PHP",
        files: &["composer.json"],
        test: &["vendor/bin/phpunit"],
        sources: &["src", "tests"],
        ..PLAIN
    },
    Language {
        name: "JavaScript or TypeScript",
        files: &["package.json", "deno.json", "tsconfig.json"],
        test: &["npm", "test"],
        sources: &["src", "test"],
        ..PLAIN
    },
];

/// The languages of a project.
pub fn found(root: &Path) -> Vec<Language> {
    let there = |language: &Language| language.files.iter().any(|file| root.join(file).is_file());
    LANGUAGES.into_iter().filter(there).collect()
}
