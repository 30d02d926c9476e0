use super::*;

#[test]
fn settings_that_the_document_forbids_are_refused() {
    let oidc = |issuer: &str, client: &str| Tenant {
        oidc: Some(Oidc {
            issuer: issuer.to_owned(),
            client_id: client.to_owned(),
            client_secret_file: None,
            roles: BTreeMap::new(),
        }),
        ..Tenant::default()
    };
    for tenant in
        [Tenant::default(), oidc("https://id.example.com", "lictor"), oidc("http://localhost:8", "x")]
    {
        assert_eq!(tenant.wrong(), None, "{tenant:?}");
    }
    let old = Tenant { max_age: 1 << 53, ..Tenant::default() };
    for tenant in
        [old, oidc("#", "x"), oidc("https://", "x"), oidc("", "x"), oidc("https://id.example.com", "")]
    {
        assert!(tenant.wrong().is_some(), "{tenant:?}");
    }
}
