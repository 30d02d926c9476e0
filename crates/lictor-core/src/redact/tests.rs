use serde_json::json;

use super::*;

fn redacted(text: &str) -> String {
    Secrets.redact(text).into_owned()
}

#[test]
fn tokens_keys_and_assigned_values_go() {
    let token = format!("ghp_{}", "a1B2".repeat(9));
    assert_eq!(redacted(&format!("git clone https://{token}@host/x")), "git clone https://[redacted]@host/x");
    assert_eq!(redacted(&format!("export T={token}; ls")), "export T=[redacted]; ls");
    assert_eq!(redacted("psql postgres://me:hunter22@db/x"), "psql postgres://me:[redacted]@db/x");
    assert_eq!(
        redacted("curl -H 'Authorization: Bearer abcdef123456'"),
        "curl -H 'Authorization: Bearer [redacted]'"
    );
    assert_eq!(redacted("DB_PASSWORD=correcthorse make"), "DB_PASSWORD=[redacted] make");
    assert_eq!(redacted("{\"api_key\": \"0123456789\"}"), "{\"api_key\": \"[redacted]\"}");
    let key = "x -----BEGIN RSA PRIVATE KEY-----\nMIIE\n-----END RSA PRIVATE KEY----- y";
    assert_eq!(redacted(key), "x [redacted] y");
    assert_eq!(redacted("-----BEGIN PRIVATE KEY-----\nMIIE"), "[redacted]");
}

#[test]
fn ordinary_text_stays() {
    for text in
        ["rm -rf /tmp/x", "git log --pretty=%H", "token=$TOKEN", "cat sk-notes.txt", "password", "a: b@c", ""]
    {
        assert!(matches!(Secrets.redact(text), Cow::Borrowed(_)), "{text}");
    }
}

#[test]
fn every_text_of_a_json_value_is_looked_at() {
    let token = format!("glpat-{}", "x".repeat(20));
    let mut value = json!({"a": [{"b": token.clone()}], token.clone(): 1});
    json(&mut value, &Secrets);
    assert_eq!(value, json!({"a": [{"b": "[redacted]"}], "[redacted]": 1}));
}
