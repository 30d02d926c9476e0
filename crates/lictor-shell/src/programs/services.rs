//! Words by which the tools of stores, clouds and key rings destroy, shut down or show secrets: one row for each.
//!
//! A row holds for a call when its words stand next to each other among the first operands, and every option it names
//! is there. Families that need more than words have a file of their own.

use lictor_core::facts::DatabaseEffect;

use super::say::written;
use super::secrets;
use super::uploads::Named;
use crate::call::{Call, Report};
use crate::operand::Arg;

/// What the words do.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Does {
    /// Destroys something that others rely on.
    Destroys,
    /// Destroys it wholesale.
    DestroysAll,
    /// Destroys a whole database.
    Drops,
    /// Shows a secret, whoever reads it.
    Reveals,
    /// Prints a credential. Taken up by another command it is used for what it is for.
    Prints,
    /// Publishes a package.
    Publishes,
    /// Sends away the file that one of the words names.
    Sends(Named),
}

/// One row: the program, words and options, and what they do. `a|b` stands for either word, `*` for any, and a word that
/// starts with `*` for its ending.
type Row = (&'static str, &'static str, Does);

/// How far into the operands the words may start: options in front may take values.
const STARTS_WITHIN: usize = 4;

/// Sorted by program, which a test checks.
const ROWS: &[Row] = &[
    ("aliyun", "* Delete*|Release*", Does::Destroys),
    ("ansible-vault", "view", Does::Prints),
    ("atlas", "* delete|terminate", Does::Destroys),
    ("aws", "kms decrypt", Does::Prints),
    ("aws", "sts get-session-token|assume-role|get-federation-token", Does::Prints),
    ("aws", "ecr|ecr-public get-login-password", Does::Prints),
    ("aws", "s3api put-object", Does::Sends(Named::Word)),
    ("az", "ad sp create-for-rbac", Does::Prints),
    ("az", "account get-access-token", Does::Prints),
    ("az", "acr credential show", Does::Prints),
    ("az", "storage account keys list", Does::Prints),
    ("az", "cosmosdb keys list", Does::Prints),
    ("az", "deployment group create --mode=Complete", Does::Destroys),
    ("az", "deployment group create --mode Complete", Does::Destroys),
    ("az", "storage blob|file upload|upload-batch", Does::Sends(Named::Word)),
    ("berglas", "access", Does::Reveals),
    ("caddy", "file-server", Does::Sends(Named::Word)),
    ("civo", "* remove|delete", Does::Destroys),
    ("cloudflared", "tunnel delete", Does::Destroys),
    ("copilot", "app|svc|env|job|pipeline delete", Does::Destroys),
    ("cpan-upload", "*", Does::Publishes),
    ("credstash", "get|getall", Does::Reveals),
    ("croc", "send", Does::Sends(Named::Word)),
    ("dcli", "password|secret", Does::Reveals),
    ("doctl", "databases connection", Does::Prints),
    ("doctl", "ssh-key import", Does::Sends(Named::Word)),
    ("ejson", "decrypt", Does::Prints),
    ("ffsend", "upload", Does::Sends(Named::Word)),
    ("firebase", "database:remove", Does::DestroysAll),
    ("fly", "auth token", Does::Prints),
    ("flyctl", "auth token", Does::Prints),
    ("gcloud", "auth application-default print-access-token", Does::Prints),
    ("gcloud", "auth print-access-token|print-identity-token|print-refresh-token", Does::Prints),
    ("gcloud", "billing projects unlink", Does::Destroys),
    ("gcloud", "sql users set-password", Does::Destroys),
    ("gcloud", "storage cp|mv|rsync", Does::Sends(Named::Word)),
    ("gh", "issue|pr|release create|comment|edit", Does::Sends(Named::Option)),
    ("gh", "api", Does::Sends(Named::Option)),
    ("gh", "release upload", Does::Sends(Named::Word)),
    ("git", "credential-* get", Does::Reveals),
    ("git", "notes add|append", Does::Sends(Named::Option)),
    ("glab", "issue|mr|release create|note|update", Does::Sends(Named::Option)),
    ("glab", "snippet create", Does::Sends(Named::Word)),
    ("goose", "reset", Does::Drops),
    ("gpg", "--export-secret-ssh-key", Does::Reveals),
    ("hasura", "metadata clear", Does::Destroys),
    ("heroku", "auth:token", Does::Prints),
    ("heroku", "config:get", Does::Prints),
    ("heroku", "pg:credentials:url", Does::Reveals),
    ("http", "", Does::Sends(Named::At)),
    ("httpie", "", Does::Sends(Named::At)),
    ("ibmcloud", "* *-delete", Does::Destroys),
    ("influxd", "wipe", Does::Drops),
    ("java", "delete-job|delete-node|delete-view|delete-credentials", Does::Destroys),
    ("k3s-agent-uninstall.sh", "", Does::DestroysAll),
    ("k3s-killall.sh", "", Does::Destroys),
    ("k3s-uninstall.sh", "", Does::DestroysAll),
    ("keepassxc-cli", "show --show-protected", Does::Reveals),
    ("keepassxc-cli", "show -s", Does::Reveals),
    ("keepassxc-cli", "export|clip", Does::Reveals),
    ("keyctl", "print|pipe|read", Does::Prints),
    ("keyring", "get", Does::Prints),
    ("kubectl", "config view --raw", Does::Reveals),
    ("kubectl", "create token", Does::Prints),
    ("kubectl", "view-secret", Does::Reveals),
    ("kubectl", "create configmap|secret|cm", Does::Sends(Named::Option)),
    ("kwallet-query", "* --read-password", Does::Reveals),
    ("kwallet-query", "* -r", Does::Reveals),
    ("lftp", "", Does::Sends(Named::Put)),
    ("logger", "-f", Does::Sends(Named::Word)),
    ("lpass", "show|export", Does::Reveals),
    ("neo4j-admin", "database delete", Does::Drops),
    ("neo4j-admin", "database load --overwrite-destination=true", Does::Drops),
    ("netlify", "api deleteSite|deleteDeploy", Does::Destroys),
    ("netlify", "env:get|env:list", Does::Prints),
    ("ngrok", "http|tcp|start", Does::Sends(Named::Word)),
    ("oc", "whoami -t", Does::Prints),
    ("oc", "whoami --show-token", Does::Prints),
    ("oc", "create configmap|secret", Does::Sends(Named::Option)),
    ("oci", "os object put", Does::Sends(Named::Word)),
    ("pub", "publish", Does::Publishes),
    ("pulumi", "config --show-secrets", Does::Reveals),
    ("pulumi", "stack output --show-secrets", Does::Reveals),
    ("pulumi", "stack export --show-secrets", Does::Reveals),
    ("rails", "credentials:show|secrets:show", Does::Reveals),
    ("railway", "variables", Does::Prints),
    ("rbw", "get", Does::Reveals),
    ("smbclient", "", Does::Sends(Named::Put)),
    ("snapcraft", "upload|push|release", Does::Publishes),
    ("sops", "decrypt", Does::Prints),
    ("sops", "-d", Does::Prints),
    ("sops", "--decrypt", Does::Prints),
    ("talosctl", "reboot|shutdown|reset|upgrade", Does::Destroys),
    ("tccli", "* Terminate*|Delete*", Does::Destroys),
    ("terraform", "state pull", Does::Prints),
    ("transfer", "", Does::Sends(Named::Word)),
    ("twilio", "*:remove", Does::Destroys),
    ("twistd", "web", Does::Sends(Named::Word)),
    ("vault", "print token", Does::Prints),
    ("vault", "token lookup|create", Does::Prints),
    ("wormhole", "send", Does::Sends(Named::Word)),
    ("xh", "", Does::Sends(Named::At)),
    ("yc", "* * delete", Does::Destroys),
];

/// Where the rows for programs that start with each letter begin; those of the letter after `z` end them.
#[expect(
    clippy::indexing_slicing,
    reason = "worked out by the compiler, which stops at an index that is out of bounds"
)]
const STARTS: [usize; 27] = {
    let mut starts = [ROWS.len(); 27];
    let mut at = ROWS.len();
    while at > 0 {
        at -= 1;
        let mut letter = first_letter(ROWS[at].0);
        starts[letter] = at;
        // Letters without rows begin where the next one does.
        while letter > 0 && starts[letter - 1] > at {
            letter -= 1;
            starts[letter] = at;
        }
    }
    starts
};

const fn first_letter(program: &str) -> usize {
    match program.as_bytes() {
        [letter @ b'a'..=b'z', ..] => (*letter - b'a') as usize,
        _ => 26,
    }
}

/// The rows of a program.
fn rows(program: &str) -> impl Iterator<Item = &'static Row> {
    let letter = first_letter(program);
    let from = STARTS.get(letter).copied().unwrap_or(ROWS.len());
    let to = STARTS.get(letter + 1).copied().unwrap_or(ROWS.len());
    ROWS.get(from..to).unwrap_or_default().iter().filter(move |(name, _, _)| *name == program)
}

/// Whether a word fits one of the alternatives.
fn fits(pattern: &str, word: &str) -> bool {
    // Most patterns are one word, and most words differ in the first letter.
    if pattern.as_bytes().first() != word.as_bytes().first() && !pattern.contains(['|', '*']) {
        return false;
    }
    pattern.split('|').any(|one| match (one.strip_prefix('*'), one.strip_suffix('*')) {
        (Some(ending), _) => word.ends_with(ending),
        (None, Some(start)) => word.starts_with(start),
        (None, None) => one == word,
    })
}

/// Whether a row holds for the words of a call. Run for every call of a program that has rows: nothing is allocated.
fn holds(pattern: &str, call: &Call<'_>) -> bool {
    let tokens = pattern.split_ascii_whitespace();
    let wanted = tokens.clone().filter(|token| !token.starts_with('-'));
    let words =
        call.args.iter().map(|arg| arg.known().unwrap_or_default()).filter(|word| !word.starts_with('-'));
    let stands_at = |start: usize| {
        let mut words = words.clone().skip(start);
        wanted.clone().all(|one| words.next().is_some_and(|word| fits(one, word)))
    };
    let stand = (0..=STARTS_WITHIN).any(stands_at);
    let given = |option: &str| {
        call.args.iter().filter_map(Arg::known).any(|word| {
            word == option
                || option
                    .strip_prefix('-')
                    .is_some_and(|letter| letter.len() == 1 && is_in_cluster(letter, word))
        })
    };
    stand && tokens.filter(|token| token.starts_with('-')).all(given)
}

/// `-rv` holds `-r`.
fn is_in_cluster(letter: &str, word: &str) -> bool {
    word.strip_prefix('-')
        .is_some_and(|rest| !rest.starts_with('-') && rest.len() <= 4 && rest.contains(letter))
}

/// Reports what the words of a call do.
pub(crate) fn judge(call: &Call<'_>, report: &mut Report) {
    let asks = |word: &str| matches!(word, "--help" | "-h" | "--dry-run" | "--dryrun");
    let mut told = false;
    for (_, pattern, does) in rows(call.program) {
        if (told && !matches!(does, Does::Sends(_))) || !holds(pattern, call) {
            continue;
        }
        if call.args.iter().filter_map(Arg::known).any(asks) {
            return;
        }
        told = true;
        match does {
            Does::Destroys => report.infrastructure(call.program, &written(call), false),
            Does::DestroysAll => report.infrastructure(call.program, &written(call), true),
            Does::Drops => report.database(DatabaseEffect::DropAll, &written(call)),
            Does::Reveals => secrets::reveals(report),
            Does::Prints => {
                report.taint.secret = true;
                report.credential = true;
            }
            Does::Publishes => report.publish(call.program),
            Does::Sends(named) => super::uploads::judge(call, report, *named),
        }
    }
}

#[cfg(test)]
mod tests;
