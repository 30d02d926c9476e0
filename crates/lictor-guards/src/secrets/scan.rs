//! Finds keys and tokens in text by their published formats. No regular expressions: one pass for each prefix.

/// A format: its name, its prefix, and the minimum number and kind of characters that follow.
struct Shape {
    name: &'static str,
    start: &'static str,
    follow: usize,
    of: fn(char) -> bool,
}

const fn shape(name: &'static str, start: &'static str, follow: usize, of: fn(char) -> bool) -> Shape {
    Shape { name, start, follow, of }
}

fn upper(char: char) -> bool {
    char.is_ascii_uppercase() || char.is_ascii_digit()
}

fn word(char: char) -> bool {
    char.is_ascii_alphanumeric() || char == '_' || char == '-'
}

const SHAPES: [Shape; 18] = [
    shape("an AWS access key", "AKIA", 16, upper),
    shape("an AWS access key", "ASIA", 16, upper),
    shape("a GitHub token", "ghp_", 36, word),
    shape("a GitHub token", "gho_", 36, word),
    shape("a GitHub token", "ghs_", 36, word),
    shape("a GitHub token", "github_pat_", 40, word),
    shape("a GitLab token", "glpat-", 20, word),
    shape("a Slack token", "xoxb-", 20, word),
    shape("a Slack token", "xoxp-", 20, word),
    shape("an Anthropic key", "sk-ant-", 32, word),
    shape("an OpenAI key", "sk-proj-", 32, word),
    shape("a Stripe key", "sk_live_", 20, word),
    shape("a Stripe key", "rk_live_", 20, word),
    shape("a Google key", "AIza", 35, word),
    shape("an npm token", "npm_", 36, word),
    shape("a PyPI token", "pypi-AgEIcHlwaS5vcmc", 20, word),
    shape("a Hugging Face token", "hf_", 34, word),
    shape("a SendGrid key", "SG.", 60, |char| word(char) || char == '.'),
];

/// The name of what the text contains; never the value itself.
pub(super) fn find(text: &str) -> Option<&'static str> {
    if text.contains("-----BEGIN ") && text.contains("PRIVATE KEY-----") {
        return Some("a private key");
    }
    SHAPES.iter().find(|shape| shape.is_in(text)).map(|shape| shape.name)
}

impl Shape {
    fn is_in(&self, text: &str) -> bool {
        text.match_indices(self.start).any(|(at, _)| {
            let (front, rest) = text.split_at(at);
            let starts = !front.chars().next_back().is_some_and(|before| before.is_ascii_alphanumeric());
            let value = rest.chars().skip(self.start.len()).take(self.follow);
            starts && value.clone().count() == self.follow && value.clone().all(self.of) && is_random(value)
        })
    }
}

/// Placeholders (`AKIAXXXXXXXXXXXXXXXX`, `ghp_000…`) are not secrets.
fn is_random(value: impl Iterator<Item = char>) -> bool {
    let mut seen: Vec<char> = Vec::new();
    for char in value {
        if !seen.contains(&char) {
            seen.push(char);
        }
    }
    seen.len() >= 6
}
