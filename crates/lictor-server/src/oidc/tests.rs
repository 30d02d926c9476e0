use ring::rand::SystemRandom;
use ring::signature::{ECDSA_P256_SHA256_FIXED_SIGNING, EcdsaKeyPair, KeyPair as _};
use serde_json::json;

use super::*;

const NOW: i64 = 1_800_000_000;

struct Provider {
    pair: EcdsaKeyPair,
    keys: Keys,
}

impl Provider {
    fn new() -> Self {
        let random = SystemRandom::new();
        let document = EcdsaKeyPair::generate_pkcs8(&ECDSA_P256_SHA256_FIXED_SIGNING, &random).unwrap();
        let pair =
            EcdsaKeyPair::from_pkcs8(&ECDSA_P256_SHA256_FIXED_SIGNING, document.as_ref(), &random).unwrap();
        let point = pair.public_key().as_ref();
        let key = json!({"kty": "EC", "crv": "P-256", "kid": "one",
                         "x": BASE64.encode(&point[1..33]), "y": BASE64.encode(&point[33..])});
        let keys = serde_json::from_value(json!({"keys": [key]})).unwrap();
        Self { pair, keys }
    }

    fn token(&self, header: &Value, claims: &Value) -> String {
        let text = format!("{}.{}", BASE64.encode(header.to_string()), BASE64.encode(claims.to_string()));
        let seal = self.pair.sign(&SystemRandom::new(), text.as_bytes()).unwrap();
        format!("{text}.{}", BASE64.encode(seal))
    }
}

fn oidc() -> Oidc {
    serde_json::from_value(json!({"issuer": "https://id.example.com", "client_id": "lictor"})).unwrap()
}

fn claims() -> Value {
    json!({"iss": "https://id.example.com", "aud": "lictor", "sub": "ada", "nonce": "n1", "exp": NOW + 60, "iat": NOW})
}

#[test]
fn a_token_counts_only_when_everything_about_it_is_right() {
    let (provider, other) = (Provider::new(), Provider::new());
    let header = json!({"alg": "ES256", "kid": "one"});
    let check = |token: &str| believed(token, &provider.keys, &oidc(), "n1", NOW).map(|claims| claims.sub);
    assert_eq!(check(&provider.token(&header, &claims())).unwrap(), "ada");
    let changed = |name: &str, value: Value| {
        let mut claims = claims();
        claims[name] = value;
        provider.token(&header, &claims)
    };
    let unsigned = format!("{}.{}.", BASE64.encode(r#"{"alg":"none"}"#), BASE64.encode(claims().to_string()));
    let mut tampered: Vec<String> =
        provider.token(&header, &claims()).split('.').map(str::to_owned).collect();
    tampered[1] = BASE64.encode(claims().to_string().replace("ada", "eve"));
    for (what, token) in [
        ("another key", other.token(&header, &claims())),
        ("an unknown key", provider.token(&json!({"alg": "ES256", "kid": "two"}), &claims())),
        ("another algorithm", provider.token(&json!({"alg": "HS256", "kid": "one"}), &claims())),
        ("no signature", unsigned),
        ("changed claims", tampered.join(".")),
        ("another provider", changed("iss", json!("https://evil.example"))),
        ("another audience", changed("aud", json!("somebody"))),
        ("many audiences without a word for whom", changed("aud", json!(["lictor", "other"]))),
        ("another sign-in", changed("nonce", json!("n2"))),
        ("an old one", changed("exp", json!(NOW - SLACK))),
        ("one from the future", changed("iat", json!(NOW + SLACK + 1))),
        ("nothing", String::new()),
        ("too many parts", "a.b.c.d".to_owned()),
    ] {
        assert!(check(&token).is_err(), "{what}");
    }
}

#[test]
fn a_sign_in_that_was_not_begun_here_ends_nowhere() {
    let unknown = SignIns::default().finish(&oidc(), "state", "code", NOW);
    assert!(matches!(unknown, Err(OidcError::Unknown)));
}
