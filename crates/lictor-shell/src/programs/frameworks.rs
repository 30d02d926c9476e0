//! Tools of application frameworks that drop, reset or rewind databases.

use lictor_core::facts::DatabaseEffect;

use super::say::written;
use crate::call::{Call, Report};
use crate::operand::Arg;

/// A framework's tool run as a script (`php artisan`, `python manage.py`, `bin/rails`). Says whether it knew it.
pub(crate) fn judge(call: &Call<'_>, report: &mut Report, script: &Arg, args: &[Arg]) -> bool {
    let Some(path) = script.known() else { return false };
    let name = path.rsplit('/').next().unwrap_or_default();
    if !matches!(
        name,
        "manage.py"
            | "artisan"
            | "rails"
            | "rake"
            | "console"
            | "ace"
            | "wp-cli.phar"
            | "bin/console"
            | "django-admin.py"
    ) {
        return false;
    }
    tool(call, report, name, args);
    true
}

pub(crate) fn program(call: &Call<'_>, report: &mut Report) {
    tool(call, report, call.program, call.args);
}

pub(crate) fn tool(call: &Call<'_>, report: &mut Report, name: &str, args: &[Arg]) {
    let words: Vec<&str> = args.iter().filter_map(Arg::known).filter(|word| !word.starts_with('-')).collect();
    let flags: Vec<&str> = args.iter().filter_map(Arg::known).filter(|word| word.starts_with('-')).collect();
    let has =
        |wanted: &str| flags.iter().any(|flag| *flag == wanted || flag.starts_with(&format!("{wanted}=")));
    let first = words.first().copied().unwrap_or_default();
    let second = words.get(1).copied().unwrap_or_default();
    let third = words.get(2).copied().unwrap_or_default();
    // The database of the tests is made to be thrown away.
    let for_tests = |(name, value): &(String, Arg)| {
        matches!(name.as_str(), "RAILS_ENV" | "RACK_ENV" | "MIX_ENV" | "APP_ENV" | "NODE_ENV")
            && value.known() == Some("test")
    };
    if has("--dry-run") || has("--help") || has("--pretend") || call.assignments.iter().any(for_tests) {
        return;
    }
    if matches!(
        (name, first),
        ("manage.py" | "django-admin" | "rails" | "bin/rails", "dbshell" | "dbconsole")
    ) {
        match call.stdin {
            crate::call::Stdin::Text(text) => super::sql::judge(text, report),
            crate::call::Stdin::Unknown(taint) => report.unknown_code(*taint, &written(call)),
            _ => {}
        }
    }
    let language = match (name, first) {
        ("manage.py" | "django-admin" | "django-admin.py", "shell" | "shell_plus") => Some("python"),
        ("rails", "runner" | "r") => Some("ruby"),
        ("artisan", "tinker") => Some("php"),
        _ => None,
    };
    if let Some(language) = language {
        let code = match language {
            "ruby" => args.iter().filter(|arg| !arg.prefix().starts_with('-')).nth(1).cloned(),
            _ => {
                let at =
                    args.iter().position(|arg| matches!(arg.known(), Some("-c" | "--command" | "--execute")));
                let behind = at.and_then(|at| args.get(at + 1)).cloned();
                behind.or_else(|| {
                    let attached = args.iter().filter_map(Arg::known).find_map(|word| {
                        word.strip_prefix("--execute=").or_else(|| word.strip_prefix("--command="))
                    });
                    attached.map(Arg::literal)
                })
            }
        };
        if let Some(code) = code.filter(|code| language != "ruby" || !code.prefix().ends_with(".rb")) {
            report.then_code(language, &code);
        }
        return;
    }
    let effect = match name {
        "rails" | "rake" => words.iter().find_map(|word| match *word {
            "db:drop" | "db:drop:all" | "db:reset" | "db:migrate:reset" | "db:purge" | "db:purge:all"
            | "db:truncate_all" | "db:schema:load" | "db:setup:force" => Some(DatabaseEffect::DropAll),
            "db:seed:replant" | "db:rollback:all" => Some(DatabaseEffect::DropPart),
            _ => None,
        }),
        "prisma" => match (first, second) {
            ("migrate", "reset") => Some(DatabaseEffect::DropAll),
            ("db", "push") if has("--force-reset") => Some(DatabaseEffect::DropAll),
            ("db", "push") if has("--accept-data-loss") => Some(DatabaseEffect::DropPart),
            ("db", "execute") => {
                if let crate::call::Stdin::Text(text) = call.stdin {
                    super::sql::judge(text, report);
                }
                Some(DatabaseEffect::Change)
            }
            _ => None,
        },
        "alembic" => (first == "downgrade" && second == "base").then_some(DatabaseEffect::DropAll),
        "flask" => {
            (first == "db" && second == "downgrade" && third == "base").then_some(DatabaseEffect::DropAll)
        }
        "manage.py" | "django-admin" | "django-admin.py" => match first {
            "flush" | "reset_db" | "sqlflush_run" => Some(DatabaseEffect::DropAll),
            "migrate" if words.contains(&"zero") => Some(DatabaseEffect::DropPart),
            _ => None,
        },
        "sequelize" | "sequelize-cli" => match first {
            "db:drop" | "db:migrate:undo:all" => Some(DatabaseEffect::DropAll),
            "db:seed:undo:all" => Some(DatabaseEffect::DropPart),
            _ => None,
        },
        "knex" => (first == "migrate:rollback" && has("--all")).then_some(DatabaseEffect::DropAll),
        "artisan" | "sail" => {
            let command = if first == "artisan" { second } else { first };
            match command {
                "migrate:fresh" | "migrate:reset" | "migrate:refresh" | "db:wipe" => {
                    Some(DatabaseEffect::DropAll)
                }
                "queue:flush" | "queue:clear" | "telescope:clear" => Some(DatabaseEffect::DropPart),
                _ => None,
            }
        }
        "typeorm" => matches!(first, "schema:drop").then_some(DatabaseEffect::DropAll),
        "mikro-orm" => matches!(first, "schema:drop" | "schema:fresh" | "migration:fresh" | "database:drop")
            .then_some(DatabaseEffect::DropAll),
        "drizzle-kit" => {
            (first == "drop" || (first == "push" && has("--force"))).then_some(DatabaseEffect::DropPart)
        }
        "supabase" => match (first, second) {
            ("db", "reset") => Some(DatabaseEffect::DropAll),
            ("projects" | "branches", "delete")
            | ("functions", "delete")
            | ("secrets", "unset")
            | ("storage", "rm") => {
                report.infrastructure("supabase", &format!("{first} {second}"), first == "projects");
                None
            }
            ("stop", _) if has("--no-backup") => Some(DatabaseEffect::DropAll),
            _ => None,
        },
        "flyway" => words.contains(&"clean").then_some(DatabaseEffect::DropAll),
        "liquibase" => words
            .iter()
            .any(|word| matches!(*word, "drop-all" | "dropAll"))
            .then_some(DatabaseEffect::DropAll),
        "goose" => (words.contains(&"reset") || (words.contains(&"down-to") && words.contains(&"0")))
            .then_some(DatabaseEffect::DropAll),
        "dbmate" | "db-migrate" => {
            matches!(first, "drop" | "reset" | "db:drop").then_some(DatabaseEffect::DropAll)
        }
        "diesel" => {
            (first == "database" && matches!(second, "reset" | "drop")).then_some(DatabaseEffect::DropAll)
        }
        "sqlx" | "sqlx-cli" => {
            (first == "database" && matches!(second, "reset" | "drop")).then_some(DatabaseEffect::DropAll)
        }
        "sea-orm-cli" => (first == "migrate" && matches!(second, "fresh" | "reset" | "refresh"))
            .then_some(DatabaseEffect::DropAll),
        "migrate" => {
            (words.contains(&"drop") || (words.last() == Some(&"down"))).then_some(DatabaseEffect::DropAll)
        }
        "mix" if words.contains(&"hex.publish") => {
            report.publish("mix");
            None
        }
        "mix" => words
            .iter()
            .any(|word| matches!(*word, "ecto.drop" | "ecto.reset"))
            .then_some(DatabaseEffect::DropAll)
            .or_else(|| {
                (words.contains(&"ecto.rollback") && has("--all")).then_some(DatabaseEffect::DropAll)
            }),
        "wp" => match (first, second) {
            ("db", "reset" | "drop" | "clean") | ("site", "empty") => Some(DatabaseEffect::DropAll),
            ("db", "query") => {
                super::sql::judge(third, report);
                None
            }
            ("post" | "user" | "comment", "delete") => Some(DatabaseEffect::DropPart),
            _ => None,
        },
        "drush" => words
            .iter()
            .any(|word| matches!(*word, "sql-drop" | "sql:drop" | "site-install" | "site:install" | "si"))
            .then_some(DatabaseEffect::DropAll),
        "console" | "symfony" => words.iter().find_map(|word| match *word {
            "doctrine:database:drop" | "doctrine:schema:drop" if has("--force") || has("-f") => {
                Some(DatabaseEffect::DropAll)
            }
            "doctrine:fixtures:load" => Some(DatabaseEffect::DropPart),
            _ => None,
        }),
        "pscale" | "planetscale" | "turso" | "neonctl" | "neon" => {
            let destroys = matches!(second, "delete" | "destroy" | "reset") || first == "destroy";
            if destroys {
                report.infrastructure(
                    name,
                    &words.join(" "),
                    matches!(first, "database" | "db" | "projects"),
                );
            }
            None
        }
        "atlas" => (first == "schema" && second == "clean").then_some(DatabaseEffect::DropAll),
        "phinx" => (first == "rollback" && (has("-t") || has("--target")) && words.contains(&"0"))
            .then_some(DatabaseEffect::DropAll),
        "dotnet-ef" => (first == "database" && second == "drop").then_some(DatabaseEffect::DropAll),
        "convex" => (first == "import" && has("--replace-all")).then_some(DatabaseEffect::DropPart),
        _ => None,
    };
    if let Some(effect) = effect {
        report.database(effect, &written(call));
    }
}
