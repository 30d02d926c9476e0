//! Where programs keep credentials: one row for each file or folder.

/// A folder, and the names in it that hold credentials. `*` stands for everything below the folder, `x*` for a start,
/// `*x` for an ending. Folders of more than one part have to follow each other in the path.
type Row = (&'static str, &'static [&'static str]);

const ROWS: &[Row] = &[
    (".aws", &["credentials", "config"]),
    (".aws/cli/cache", &["*"]),
    (".aws/sso/cache", &["*"]),
    (".azure", &["*token*", "service_principal_entries*", "azureprofile.json"]),
    (".bitcoin", &["wallet.dat"]),
    (".cache/huggingface", &["token", "stored_tokens"]),
    (".huggingface", &["token"]),
    (".cargo", &["credentials*"]),
    (".cloudflared", &["*.pem", "*.json"]),
    (".codex", &["auth.json"]),
    (".composer", &["auth.json"]),
    (".config", &["hub", "linode-cli"]),
    (".config/age", &["keys.txt"]),
    (".config/bitwarden", &["data.json"]),
    (".config/bitwarden cli", &["data.json"]),
    (".config/composer", &["auth.json"]),
    (".config/configstore", &["firebase-tools.json", "update-notifier-*.token"]),
    (".config/containers", &["auth.json"]),
    (".config/doctl", &["config.yaml"]),
    (".config/fly", &["config.yml"]),
    (".config/gcloud/legacy_credentials", &["*"]),
    (".config/gh", &["hosts.yml"]),
    (".config/github-copilot", &["hosts.json", "apps.json"]),
    (".config/glab-cli", &["config.yml"]),
    (".config/hcloud", &["cli.toml"]),
    (".config/netlify", &["config.json"]),
    (".config/ngrok", &["ngrok.yml"]),
    (".config/op", &["*"]),
    (".config/scw", &["config.yaml"]),
    (".config/solana", &["id.json"]),
    (".config/sops/age", &["keys.txt"]),
    (".config/stripe", &["config.toml"]),
    (".config/.wrangler/config", &["default.toml"]),
    (".wrangler/config", &["default.toml"]),
    (".docker", &["config.json"]),
    (".ethereum/keystore", &["*"]),
    (".fly", &["config.yml"]),
    (".gem", &["credentials"]),
    (".gemini", &["oauth_creds.json"]),
    (".kaggle", &["kaggle.json"]),
    (".kube", &["config"]),
    (".local/share/com.vercel.cli", &["auth.json"]),
    (".local/share/opencode", &["auth.json"]),
    (".m2", &["settings-security.xml"]),
    (".ngrok2", &["ngrok.yml"]),
    (".oci", &["config", "*.pem"]),
    (".password-store", &["*"]),
    (".snowsql", &["config"]),
    ("/etc/ssh", &["ssh_host_*_key"]),
    ("/etc/wireguard", &["*.conf"]),
    ("/etc/ssl/private", &["*"]),
    ("/etc", &["krb5.keytab"]),
    ("doctl", &["config.yaml"]),
    ("gcloud", &["*.db", "*credential*"]),
    ("gh", &["hosts.yml"]),
    ("keychains", &["*"]),
    ("keyrings", &["*"]),
];

fn fits(pattern: &str, name: &str) -> bool {
    let mut parts = pattern.split('*');
    let start = parts.next().unwrap_or_default();
    let Some(mut rest) = name.strip_prefix(start) else { return false };
    if !pattern.contains('*') {
        return rest.is_empty();
    }
    let Some(end) = parts.next_back() else { return true };
    for part in parts {
        let Some((_, tail)) = rest.split_once(part) else { return false };
        rest = tail;
    }
    rest.ends_with(end)
}

/// Whether a path lies where a program keeps credentials.
pub(super) fn is_kept(path: &str) -> bool {
    let lower = path.to_ascii_lowercase();
    let Some((folder, name)) = lower.rsplit_once('/') else { return false };
    let ends_in = |folder: &str, row: &str| {
        folder.strip_suffix(row).is_some_and(|front| front.is_empty() || front.ends_with('/'))
    };
    ROWS.iter().any(|(row, names)| match names {
        ["*"] => folder.match_indices(row).any(|(at, _)| {
            folder.get(..at + row.len()).is_some_and(|front| ends_in(front, row))
                && folder.get(at + row.len()..).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
        }),
        names => ends_in(folder, row) && names.iter().any(|pattern| fits(pattern, name)),
    })
}
