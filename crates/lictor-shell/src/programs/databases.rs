//! Command lines of databases.

use lictor_core::facts::{Access, DatabaseEffect};

use super::options::{Grammar, Options};
use super::say::written;
use super::sql;
use crate::call::{Call, Next, Report, Stdin};
use crate::operand::Arg;

/// A client: which options hold statements, and which others take values.
struct Client {
    grammar: Grammar,
    statements: &'static [&'static str],
}

fn client(program: &str) -> Option<Client> {
    let (valued, long, statements): (&str, &str, &[&str]) = match program {
        "psql" | "pgcli" | "usql" => (
            "cdfhLopPRTUvF",
            "command= dbname= file= host= log-file= output= port= pset= set= variable= username= no-psqlrc tuples-only quiet",
            &["c", "command"],
        ),
        "cockroach" => (
            "cdfhLopPRTUvFe",
            "command= dbname= file= host= log-file= output= port= pset= set= variable= username= execute= url= database= \
             no-psqlrc tuples-only quiet",
            &["c", "command", "e", "execute"],
        ),
        "mysql" | "mariadb" | "mycli" | "mysqlsh" => (
            "eDhPSu",
            "execute= database= host= port= socket= user= defaults-file= default-character-set= protocol= init-command= \
             defaults-extra-file= ssl-ca= sql js py",
            &["e", "execute", "init-command"],
        ),
        "cqlsh" | "sqlcmd" | "osql" | "hive" | "beeline" | "spark-sql" | "trino" | "presto" | "snowsql"
        | "impala-shell" | "db2" | "isql" | "vsql" | "clickhouse-client" | "clickhouse" | "influx"
        | "athena" | "surreal" | "tsql" | "gsql" | "databricks" => (
            "eQqdhupUSPfkuFn",
            "execute= query= database= host= user= password= port= file= server= keyspace= format= multiquery org= token=",
            &["e", "Q", "q", "execute", "query"],
        ),
        "duckdb" | "sqlite3" | "sqlite" | "litecli" => {
            ("c", "cmd= init= separator= nullvalue= readonly", &["c", "s", "cmd"])
        }
        _ => return None,
    };
    Some(Client { grammar: Grammar::anywhere(valued, long), statements })
}

pub(crate) fn judge(call: &Call<'_>, report: &mut Report) {
    if let Some(client) = client(call.program) {
        return run_client(call, report, &client);
    }
    let options = Grammar::anywhere("huUpPWaneistdfF", "host= port= username= eval= user= password= dry-run")
        .parse(call.args);
    match call.program {
        "mongo" | "mongosh" => mongo(call, report),
        "redis-cli" | "valkey-cli" | "keydb-cli" => redis(call, report),
        "dropdb" => report.database(DatabaseEffect::DropAll, &written(call)),
        "dropuser" | "pg_resetwal" => report.database(DatabaseEffect::DropPart, &written(call)),
        "mysqladmin" | "mariadb-admin" => {
            // `-f` takes no value here, whatever other clients do with it.
            let words = || call.args.iter().filter_map(Arg::known);
            if words().any(|word| word == "drop") {
                report.database(DatabaseEffect::DropAll, &written(call));
            } else if words().any(|word| word == "shutdown") {
                report.infrastructure(call.program, "shutdown", false);
            }
        }
        "mongorestore" if options.has(&["drop"]) => report.database(DatabaseEffect::DropPart, &written(call)),
        "pg_restore" if options.has(&["clean", "c"]) => {
            report.database(DatabaseEffect::DropPart, &written(call))
        }
        "pg_dropcluster" | "initdb" if call.program == "pg_dropcluster" => {
            report.database(DatabaseEffect::DropAll, &written(call));
        }
        "pg_dump" | "mysqldump" | "mongodump" => {
            if let Some(output) = options.value(&["f"]) {
                report.file(call, Access::Write, output, false);
            }
        }
        "bq" => bigquery(call, report, &options),
        "etcdctl" => {
            if matches!(options.word(0), "del" | "rm" | "rmdir") {
                let all = options.has(&["prefix", "from-key", "recursive"]);
                let effect = if all { DatabaseEffect::DropAll } else { DatabaseEffect::Change };
                report.database(effect, &written(call));
            }
        }
        "sqlplus" => statements_on_stdin(call, report),
        "nodetool"
            if matches!(options.word(0), "decommission" | "removenode" | "assassinate" | "clearsnapshot") =>
        {
            report.database(DatabaseEffect::DropPart, &written(call));
        }
        "memcflush" => report.database(DatabaseEffect::DropAll, &written(call)),
        "cypher-shell" => {
            for word in options.words() {
                if word.to_ascii_uppercase().contains("DETACH DELETE") {
                    report.database(DatabaseEffect::DropPart, word);
                }
                sql::judge(word, report);
            }
        }
        _ => {}
    }
}

fn statements_on_stdin(call: &Call<'_>, report: &mut Report) {
    if let Stdin::Text(text) = call.stdin {
        script(call, report, text);
    }
}

fn run_client(call: &Call<'_>, report: &mut Report, client: &Client) {
    let options = client.grammar.parse(call.args);
    let lite = matches!(call.program, "sqlite3" | "sqlite" | "duckdb" | "litecli");
    let throwaway = lite && matches!(options.word(0), "" | ":memory:");
    let mut texts: Vec<&Arg> = options.values(client.statements).collect();
    if lite {
        if let Some(file) = options.operands.first().filter(|_| !throwaway) {
            report.file(call, Access::Read, file, false);
        }
        texts.extend(options.from(1));
    }
    if matches!(call.program, "db2" | "clickhouse" | "influx" | "databricks") {
        texts.extend(options.operands.iter().filter(|arg| arg.prefix().contains(' ')));
    }
    if let Some(output) = options.value(&["o", "output"]).filter(|_| call.program == "psql") {
        report.file(call, Access::Write, output, false);
    }
    for text in texts {
        match text.known() {
            Some(text) if throwaway => meta(call, report, text),
            Some(text) => script(call, report, text),
            None => script(call, report, text.prefix()),
        }
    }
    if !throwaway {
        statements_on_stdin(call, report);
        for file in options.values(&["f", "file"]).filter_map(Arg::known) {
            script(call, report, &call.surroundings.written(file).unwrap_or_default());
        }
    }
    let words: Vec<&str> = options.words().collect();
    match (call.program, words.as_slice()) {
        ("influx", ["bucket" | "org", "delete", ..] | ["delete", ..]) => {
            report.database(DatabaseEffect::DropPart, &written(call));
        }
        ("cockroach", ["node", "decommission", ..]) => {
            report.infrastructure("cockroach", "node decommission", false)
        }
        _ => {}
    }
}

/// Statements with the client's own commands between them.
pub(crate) fn script(call: &Call<'_>, report: &mut Report, text: &str) {
    meta(call, report, text);
    sql::judge(text, report);
}

/// Commands of the client itself: shell escapes and files.
fn meta(call: &Call<'_>, report: &mut Report, text: &str) {
    for line in text.lines().map(str::trim) {
        let command = match call.program {
            "psql" | "pgcli" | "mysql" | "mariadb" | "usql" => {
                line.strip_prefix("\\!").or_else(|| line.strip_prefix("system "))
            }
            "sqlite3" | "sqlite" | "duckdb" => {
                line.strip_prefix(".shell ").or_else(|| line.strip_prefix(".system "))
            }
            "sqlplus" => line.strip_prefix("host ").or_else(|| line.strip_prefix('!')),
            _ => None,
        };
        if let Some(command) = command {
            report.next.push(Next::Shell {
                text: Arg::literal(command.trim()),
                args: Vec::new(),
                through: call.program.to_owned(),
                elsewhere: false,
            });
        }
        if let Some(path) = line.strip_prefix(".output ").or_else(|| line.strip_prefix(".once ")) {
            report.file(call, Access::Write, &Arg::literal(path.trim()), false);
        }
    }
}

/// Effects of a script for the shell of MongoDB.
pub(crate) fn mongo_script(text: &str, report: &mut Report) {
    let dense: String = text.chars().filter(|c| !c.is_whitespace()).collect();
    if dense.contains("dropDatabase(") {
        report.database(DatabaseEffect::DropAll, text);
    } else if dense.contains(".drop(")
        || dense.contains("deleteMany({})")
        || dense.contains("remove({})")
        || dense.contains(".dropIndexes(")
        || dense.contains("dropAllUsers")
        || dense.contains("dropCollection(")
    {
        report.database(DatabaseEffect::DropPart, text);
    } else if dense.contains("deleteMany(")
        || dense.contains("deleteOne(")
        || dense.contains("updateMany(")
        || dense.contains("insert")
    {
        report.database(DatabaseEffect::Change, text);
    }
    if dense.contains("shutdownServer(") {
        report.infrastructure("mongo", "shutdownServer", false);
    }
}

fn mongo(call: &Call<'_>, report: &mut Report) {
    let options =
        Grammar::anywhere("hup", "eval= host= port= username= password= authenticationDatabase= file= quiet")
            .parse(call.args);
    for text in options.values(&["eval"]) {
        mongo_script(text.prefix(), report);
    }
    for file in options.words().filter(|word| word.ends_with(".js")) {
        mongo_script(&call.surroundings.written(file).unwrap_or_default(), report);
    }
    if let Stdin::Text(text) = call.stdin {
        mongo_script(text, report);
    }
}

fn redis(call: &Call<'_>, report: &mut Report) {
    let options = Grammar::until_operand(
        "hpasunridD",
        "pass= user= pipe eval= scan bigkeys cluster= tls cacert= cert= key= raw csv",
    )
    .parse(call.args);
    let mut commands: Vec<Vec<String>> = vec![options.words().map(str::to_ascii_uppercase).collect()];
    if let Stdin::Text(text) = call.stdin {
        commands
            .extend(text.lines().map(|line| line.split_whitespace().map(str::to_ascii_uppercase).collect()));
    }
    for words in commands {
        let first = words.first().map(String::as_str).unwrap_or_default();
        let second = words.get(1).map(String::as_str).unwrap_or_default();
        let effect = match (first, second) {
            ("FLUSHALL" | "FLUSHDB", _) => Some(DatabaseEffect::DropAll),
            ("DEL" | "UNLINK", _) if options.operands.iter().any(|arg| arg.known().is_none()) => {
                Some(DatabaseEffect::DropPart)
            }
            ("SCRIPT", "FLUSH")
            | ("FUNCTION", "FLUSH")
            | ("DEL" | "UNLINK" | "SET" | "HDEL" | "EXPIRE" | "RENAME", _) => Some(DatabaseEffect::Change),
            ("CONFIG", "SET")
            | ("DEBUG", _)
            | ("SLAVEOF" | "REPLICAOF", _)
            | ("CLUSTER", "RESET" | "FORGET" | "FLUSHSLOTS") => Some(DatabaseEffect::DropPart),
            ("SHUTDOWN", _) => {
                report.infrastructure(call.program, "shutdown", false);
                None
            }
            ("EVAL", script) if script.contains("FLUSH") => Some(DatabaseEffect::DropAll),
            _ => None,
        };
        if let Some(effect) = effect {
            report.database(effect, &words.join(" "));
        }
    }
}

fn bigquery(call: &Call<'_>, report: &mut Report, options: &Options) {
    let words: Vec<&str> = options.words().collect();
    if let Some(at) = words.iter().position(|word| *word == "rm") {
        let whole = options.has(&["d", "dataset", "r", "recursive"]) && at < 4;
        report
            .database(if whole { DatabaseEffect::DropAll } else { DatabaseEffect::DropPart }, &written(call));
    }
    if words.contains(&"query") {
        for text in call.args.iter().filter_map(Arg::known).filter(|text| text.contains(' ')) {
            sql::judge(text, report);
        }
    }
}
