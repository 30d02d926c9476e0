//! Detects the languages and frameworks of a repository from its build files, with the defaults of a new policy
//! for each.

use std::fs;
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
    /// Alternative commands, each with a file and a word in it that select it: the first match. An empty word
    /// matches the file alone.
    other_tests: &'static [(&'static str, &'static str, &'static [&'static str])],
    /// Where its sources usually are.
    pub sources: &'static [&'static str],
    /// Common files with secrets in such projects, besides `.env`.
    pub secrets: &'static [&'static str],
}

/// A language without secret files of its own.
const PLAIN: Language =
    Language { name: "", files: &[], test: &[], other_tests: &[], sources: &[], secrets: &[] };

/// In detection order; the first found gives the examples. Frameworks come before their language.
const LANGUAGES: [Language; 10] = [
    Language {
        name: "Django",
        files: &["manage.py"],
        test: &["python", "manage.py", "test"],
        sources: &["src", "tests"],
        other_tests: &[
            ("uv.lock", "", &["uv", "run", "python", "manage.py", "test"]),
            ("poetry.lock", "", &["poetry", "run", "python", "manage.py", "test"]),
        ],
        secrets: &["**/local_settings.py"],
    },
    Language {
        name: "Rails",
        files: &["config/application.rb"],
        test: &["bin/rails", "test"],
        other_tests: &[("Gemfile", "rspec", &["bundle", "exec", "rspec"])],
        sources: &["app", "lib", "test"],
        // The key is in no commit, so a name without a pattern would match nothing in a fresh clone.
        secrets: &["config/*.key", "config/credentials/*.key"],
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
        other_tests: &[
            ("uv.lock", "", &["uv", "run", "pytest"]),
            ("poetry.lock", "", &["poetry", "run", "pytest"]),
        ],
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
        other_tests: &[("Gemfile", "minitest", &["bundle", "exec", "rake", "test"])],
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
        other_tests: &[
            ("pnpm-lock.yaml", "", &["pnpm", "test"]),
            ("yarn.lock", "", &["yarn", "test"]),
            ("bun.lock", "", &["bun", "run", "test"]),
            ("bun.lockb", "", &["bun", "run", "test"]),
            ("deno.json", "", &["deno", "test"]),
        ],
        sources: &["src", "test"],
        ..PLAIN
    },
];

/// The languages of a project.
pub fn found(root: &Path) -> Vec<Language> {
    let there = |language: &Language| language.files.iter().any(|file| root.join(file).is_file());
    LANGUAGES.into_iter().filter(there).map(|language| language.tested_in(root)).collect()
}

impl Language {
    /// The same with this project's test command.
    fn tested_in(self, root: &Path) -> Self {
        let fits = |(file, word, _): &&(&str, &str, _)| {
            fs::read(root.join(file)).is_ok_and(|bytes| String::from_utf8_lossy(&bytes).contains(word))
        };
        let test = self.other_tests.iter().find(fits).map_or(self.test, |(_, _, test)| test);
        Self { test, ..self }
    }
}
