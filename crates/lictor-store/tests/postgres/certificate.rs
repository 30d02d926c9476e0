//! Certificates for TLS tests. `lictor-server` uses this file too.

use std::path::{Path, PathBuf};
use std::process::Command;

/// A certificate that signs itself, for names like `DNS:localhost, IP:127.0.0.1`, and its key: files in `directory` that
/// begin with `file`.
pub(crate) fn certificate(directory: &Path, file: &str, names: &str) -> (PathBuf, PathBuf) {
    let place = |end: &str| directory.join(format!("{file}.{end}"));
    let (cert, key, config) = (place("crt"), place("key"), place("cnf"));
    let text = format!(
        "[req]\ndistinguished_name = dn\nx509_extensions = own\n[dn]\n[own]\n\
         basicConstraints = critical, CA:FALSE\nsubjectAltName = {names}\n"
    );
    std::fs::write(&config, text).unwrap();
    let made = Command::new("openssl")
        .args(["req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes"])
        .args(["-days", "2", "-subj", "/CN=test", "-config"])
        .arg(&config)
        .arg("-keyout")
        .arg(&key)
        .arg("-out")
        .arg(&cert)
        .output()
        .expect("this test makes certificates with `openssl`: `apt-get install openssl`");
    assert!(made.status.success(), "{made:?}");
    (cert, key)
}
