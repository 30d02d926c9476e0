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

/// Each holds `hunter2!x` where people write passwords.
const GIVEN_AWAY: &[&str] = &[
    "prog --pwd hunter2!x",
    "prog --pw hunter2!x",
    "prog -pw hunter2!x",
    "prog --pin hunter2!x",
    "prog --passcode hunter2!x",
    "prog --passcode=hunter2!x",
    "prog --credential hunter2!x",
    "prog --app-key hunter2!x",
    "prog --auth-key hunter2!x",
    "prog --license-key hunter2!x",
    "prog \"--token\" \"hunter2!x\"",
    "prog '--token' hunter2!x",
    "npm login --auth=hunter2!x",
    "htpasswd -nb u hunter2!x",
    "htpasswd -nbB u hunter2!x",
    "swaks -ap hunter2!x",
    "kinit u <<< hunter2!x",
    "cryptsetup open x y <<< hunter2!x",
    "curl -u admin:hunter2!x https://example.com",
    "curl -uadmin:hunter2!x https://example.com",
    "curl --user 'admin:hunter2!x' https://example.com",
    "curl --proxy-user admin:hunter2!x https://example.com",
    "curl -H 'Authorization: Bearer hunter2!x' https://example.com",
    "curl -H \"authorization: token hunter2!x\" https://example.com",
    "curl -H 'X-Api-Key: hunter2!x' https://example.com",
    "curl -H 'Cookie: sid=hunter2!x' https://example.com",
    "curl -d '{\"password\": \"hunter2!x\"}' https://example.com",
    "curl https://admin:hunter2!x@example.com/a",
    "wget --password=hunter2!x ftp://example.com/a",
    "wget --password hunter2!x ftp://example.com/a",
    "mysql -u root -phunter2!x shop",
    "sudo mysqldump -phunter2!x shop > a.sql",
    "/usr/bin/mariadb -uroot -phunter2!x",
    "sshpass -p hunter2!x ssh host",
    "sshpass -phunter2!x ssh host",
    "sshpass -p 'hunter2!x' scp a host:",
    "PGPASSWORD=hunter2!x psql -h db",
    "MYSQL_PWD='hunter2!x' mysql",
    "export API_TOKEN=\"hunter2!x y z\"",
    "env DB_PASS=hunter2!x ./run.sh",
    "redis-cli -a hunter2!x ping",
    "mongosh -u root -p hunter2!x",
    "docker login -u me -p hunter2!x registry.example.com",
    "echo hunter2!x | docker login -u me --password-stdin",
    "echo 'root:hunter2!x' | chpasswd",
    "echo \"hunter2!x\" | sudo -S apt-get update",
    "helm registry login -u me --password hunter2!x example.com",
    "gh auth login --with-token --token hunter2!x",
    "npm publish --otp 1 --token=hunter2!x",
    "vault login --token hunter2!x",
    "ldapsearch -x -D cn=admin -w hunter2!x",
    "openssl enc -aes256 -pass pass:hunter2!x -in a",
    "zip -P hunter2!x a.zip a",
    "7z a -phunter2!x a.7z a",
    "aws configure set --secret-key hunter2!x",
    "twine upload -u __token__ --password 'hunter2!x' dist/*",
    "smbclient -U admin%hunter2!x //host/share",
    "some-tool --client-secret hunter2!x --verbose",
    "git clone https://oauth2:hunter2!x@example.com/a.git",
    "cd a && mysql -phunter2!x",
    "npm login --_auth=hunter2!x",
    "kubectl create secret generic x --from-literal=pw=hunter2!x",
    "vault kv put secret/x value=hunter2!x",
    "http example.com 'Authorization:Token hunter2!x'",
    "wrangler secret put NAME <<< hunter2!x",
    "htpasswd -b file ann hunter2!x",
    "snmpget -c hunter2!x host",
    "rabbitmqctl add_user ann hunter2!x",
    "createuser --pwprompt <<< hunter2!x",
    "keytool -storepass hunter2!x -list",
    "some-tool -token hunter2!x",
    "nmcli dev wifi connect home password hunter2!x",
    "wpa_passphrase home hunter2!x",
    "az storage blob list --account-key hunter2!x",
    "ssh-keygen -N hunter2!x -f key",
    "restic --password-command 'echo hunter2!x' backup",
    "set -x TOKEN hunter2!x",
    "setenv DB_PASSWORD hunter2!x",
    "read -s PW <<< hunter2!x",
    "curl 'https://example.com/x?sig=hunter2!x&se=1'",
    "curl https://hooks.slack.com/services/T0/B0/hunter2!x",
    "curl https://discord.com/api/webhooks/12/hunter2!x",
    "curl https://api.telegram.org/bot12:hunter2!x/sendMessage",
    "xh --bearer hunter2!x https://example.com",
    "mariadb -p'hunter2!x' shop",
    "SSHPASS=hunter2!x sshpass -e ssh host",
    "sqlplus scott/hunter2!x@orcl",
    "rsync --password-file=<(echo hunter2!x) host::m .",
    "npm config set _auth=hunter2!x",
    "yarn config set npmAuthToken hunter2!x",
    "poetry config pypi-token.pypi hunter2!x",
    "poetry config http-basic.x ann hunter2!x",
    "aws ssm put-parameter --name x --type SecureString --value hunter2!x",
    "az keyvault secret set --vault-name v -n n --value hunter2!x",
    "printf %s hunter2!x | gcloud secrets versions add x --data-file=-",
    "gh secret set X --body hunter2!x",
    "gh secret set X -bhunter2!x",
    "echo hunter2!x | gh secret set X",
    "netlify deploy --auth hunter2!x",
    "doctl auth init -t hunter2!x",
    "rar a -hphunter2!x a.rar f",
    "passwd ann <<< $'hunter2!x\nhunter2!x'",
    "expect -c 'spawn ssh h; expect \"password:\"; send \"hunter2!x\\r\"'",
    "printf 'machine h login u password hunter2!x' > ~/.netrc",
    "echo 'h:5432:db:u:hunter2!x' > ~/.pgpass",
    "echo '<password>hunter2!x</password>' > a.xml",
    "echo '<add key=\"ApiKey\" value=\"hunter2!x\" />' > b.xml",
    "python3 -c \"requests.get('https://a', auth=('u','hunter2!x'))\"",
    "python3 -c \"smtp.login('u', 'hunter2!x')\"",
    "printf 'password=%s\\n' hunter2!x > f",
    "sed -i 's|__TOKEN__|hunter2!x|' config.js",
    "mysql -e \"SET PASSWORD FOR 'u' = PASSWORD('hunter2!x')\"",
    "mongosh --eval 'db.createUser({user:\"u\",pwd:\"hunter2!x\"})'",
    "redis-cli CONFIG SET requirepass hunter2!x",
    "redis-cli AUTH hunter2!x",
    "xfreerdp /u:ann /p:hunter2!x /v:host",
    "rclone config create r s3 secret_access_key hunter2!x",
    "security add-generic-password -a a -s s -w hunter2!x",
    "bw unlock hunter2!x",
    "ngrok config add-authtoken hunter2!x",
    "pulumi config set --secret dbPassword hunter2!x",
    "wandb login hunter2!x",
];

#[test]
fn passwords_on_command_lines_go() {
    for line in GIVEN_AWAY {
        assert!(!redacted(line).contains("hunter2"), "{line} → {}", redacted(line));
        let json = json!({"action": {"payload": {"command": line}}});
        assert!(Secrets.may_redact_json(&json.to_string()), "{line}");
        let mut clean = json;
        super::json(&mut clean, &Secrets);
        assert!(!clean.to_string().contains("hunter2"), "{clean}");
    }
}

#[test]
fn fields_that_are_named_after_a_secret_go() {
    for name in [
        "password",
        "apiKey",
        "api_key",
        "client_secret",
        "accessToken",
        "db_pass",
        "passphrase",
        "privateKey",
        "pass",
        "pwd",
        "cookie",
    ] {
        let mut value =
            json!({"action": {"payload": {"user": "ann", (name): "p w", "deep": {(name): "x#y"}}}});
        assert!(Secrets.may_redact_json(&value.to_string()), "{name}");
        json(&mut value, &Secrets);
        let payload = json!({"user": "ann", (name): REDACTED, "deep": {(name): REDACTED}});
        assert_eq!(value, json!({"action": {"payload": payload}}));
    }
    let mut harmless =
        json!({"payload": {"key": "Enter", "token_count": 12, "tokens": "a b", "password": ""}});
    let before = harmless.clone();
    json(&mut harmless, &Secrets);
    assert_eq!(harmless, before);
}

#[test]
fn command_lines_without_a_secret_stay() {
    for line in [
        "cp -p a b && tar -xpf a.tar",
        "docker run -p 8080:80 -u 1000:1000 nginx",
        "mkdir -p src/token && ls --color=auto",
        "ssh -p 2222 -u host",
        "git commit -m 'fix: password reset: the token is checked'",
        "cargo test --package lictor-core --test token",
        "curl -u \"$USER:$PASSWORD\" https://example.com",
        "mysql -p shop",
        "docker login -u me --password-stdin < secret.txt",
        "psql -U app -d shop -c 'select 1'",
        "gh auth login --token \"$GH_TOKEN\"",
        "vault login --token-file ~/.vault-token",
        "echo hello | sudo tee a",
        "export TOKEN_COUNT=12 KEYBOARD=us",
        "echo done && gh secret set X < file",
        "curl 'https://example.com/x?page=2&sort=asc'",
        "curl https://example.com/services/list",
        "git clone https://github.com/ann/configuration-of-hooks-2",
        "git clone https://ann@example.com/a.git",
        "sed -i 's|__NAME__|lictor|' config.js",
        "printf 'name=%s\\n' lictor > f",
        "npm config set save-exact true",
        "git config user.email ann@example.com",
        "gh secret list",
        "kubectl get secret x -o yaml",
        "echo '<name>lictor</name>' > a.xml",
        "cmake --build . && ./login --help",
        "pwd=/home/ann/project make",
        "redis-cli CONFIG SET maxmemory 100mb",
        "python3 -c \"print('a', 'b')\"",
        "sqlplus /nolog @script.sql",
        "auth=(a b); echo ${auth[0]}",
        "rman target / cmdfile=x",
    ] {
        assert_eq!(redacted(line), line);
    }
}

#[test]
fn the_words_of_a_command_lose_what_its_line_loses() {
    for (program, args, kept) in [
        ("curl", ["-u", "bob:Zq8vN3kLw7Rt", "https://example.com"], 2),
        ("sshpass", ["-p", "Zq8vN3kLw7Rt", "ssh"], 2),
        ("mysql", ["-pZq8vN3kLw7Rt", "-h", "db"], 2),
        ("run", ["--token", "Zq8vN3kLw7Rt", "x"], 2),
    ] {
        let words: Vec<&str> = std::iter::once(program).chain(args).collect();
        let mut value = json!({"facts": [{"run": {"program": program, "args": args, "words": words}}]});
        json(&mut value, &Secrets);
        let run = &value["facts"][0]["run"];
        assert!(!value.to_string().contains("Zq8vN3kLw7Rt"), "{value}");
        let left = run["args"].as_array().unwrap().iter().filter(|arg| *arg != REDACTED).count();
        assert_eq!(left, kept, "{value}");
    }
    let mut harmless = json!({"program": "git", "args": ["commit", "-m", "a token"], "words": ["git"]});
    let before = harmless.clone();
    json(&mut harmless, &Secrets);
    assert_eq!(harmless, before);
}

#[test]
fn secrets_without_an_option_of_their_own_go_too() {
    for line in [
        "curl --user=bob:Zq8vN3kLw7Rt https://example.com",
        "curl --oauth2-bearer Zq8vN3kLw7Rt https://example.com",
        "curl -b Zq8vN3kLw7Rt https://example.com",
        "gh auth login --with-token <<< Zq8vN3kLw7Rt",
        "passwd <<< Zq8vN3kLw7Rt",
        "vault login Zq8vN3kLw7Rt",
        "cargo login Zq8vN3kLw7Rt",
        "twine upload -u me -p Zq8vN3kLw7Rt dist/x",
        "npm config set //registry.npmjs.org/:_authToken Zq8vN3kLw7Rt",
        "aws configure set aws_secret_access_key Zq8vN3kLw7Rt",
        "psql -c \"ALTER USER u PASSWORD 'Zq8vN3kLw7Rt'\"",
        "mysql -e \"CREATE USER u IDENTIFIED BY 'Zq8vN3kLw7Rt'\"",
    ] {
        let clean = redacted(line);
        assert!(!clean.contains("Zq8vN3kLw7Rt"), "{clean}");
    }
    for line in [
        "cargo login",
        "vault login -method=oidc",
        "npm config get registry",
        "aws configure list",
        "grep -rn login src",
        "cat <<< hello",
    ] {
        assert_eq!(redacted(line), line);
    }
}

#[test]
fn values_of_variables_that_are_named_after_a_secret_go() {
    let mut value =
        json!({"payload": {"env": [{"name": "API_TOKEN", "value": "x#y"}, {"key": "HOME", "value": "/h"}]}});
    assert!(Secrets.may_redact_json(&value.to_string()));
    json(&mut value, &Secrets);
    let env = json!([{"name": "API_TOKEN", "value": REDACTED}, {"key": "HOME", "value": "/h"}]);
    assert_eq!(value, json!({"payload": {"env": env}}));
    let mut directory = json!({"payload": {"pwd": "/home/ann"}});
    json(&mut directory, &Secrets);
    assert_eq!(directory, json!({"payload": {"pwd": "/home/ann"}}));
}

#[test]
fn secrets_in_files_and_fields_go_by_the_form_around_them() {
    for content in [
        "kind: Secret\ndata:\n  any: Zq8vN3kLw7Rt\n",
        "kind: Secret\nmetadata:\n  name: x\nstringData:\n  conn: Zq8vN3kLw7Rt\n",
        "- name: DB_PASSWORD\n  value: Zq8vN3kLw7Rt\n",
        "<Password>Zq8vN3kLw7Rt</Password>",
        "git clone https://Zq8vN3kLw7RtZq8vN3kLw7Rt@example.com/a",
        "git clone https://Zq8vN3kLw7RtZq8vN3kLw7Rt:x-oauth-basic@example.com/a",
        "Server=h;Uid=u;Pwd=Zq8vN3kLw7Rt;",
    ] {
        let mut value = json!({"payload": {"content": content}});
        assert!(Secrets.may_redact_json(&value.to_string()), "{content}");
        json(&mut value, &Secrets);
        assert!(!value.to_string().contains("Zq8vN3kLw7Rt"), "{value}");
    }
    for payload in [
        json!({"auth": {"bearer": "Zq8vN3kLw7Rt"}}),
        json!({"args": ["--token", "Zq8vN3kLw7Rt"]}),
        json!({"auth": ["u", "Zq8vN3kLw7Rt"]}),
        json!({"element": "Password", "text": "Zq8vN3kLw7Rt"}),
        json!({"sshKey": "Zq8vN3kLw7Rt", "otp": "Zq8vN3kLw7Rt"}),
    ] {
        let value_before = payload.clone();
        let mut value = json!({"payload": payload});
        assert!(Secrets.may_redact_json(&value.to_string()), "{value}");
        json(&mut value, &Secrets);
        assert!(!value.to_string().contains("Zq8vN3kLw7Rt"), "{value}");
        assert_eq!(taken_from(&value_before, &Secrets), ["Zq8vN3kLw7Rt"]);
    }
    for content in [
        "kind: ConfigMap\ndata:\n  any: value\n",
        "- name: LOG_LEVEL\n  value: debug\n",
        "fn check(signature: Signature, pass: usize) {}",
        "<Name>lictor</Name>",
    ] {
        let mut value = json!({"payload": {"content": content, "args": ["--count", "3"], "auth": "none"}});
        let before = value.clone();
        json(&mut value, &Secrets);
        assert_eq!(value, before);
    }
}

#[test]
fn what_was_taken_out_of_an_action_is_taken_out_of_what_is_made_from_it() {
    for line in GIVEN_AWAY {
        let texts = taken_from(&json!({"command": line}), &Secrets);
        let redactor = Taken { redactor: &Secrets, texts: &texts };
        let words: Vec<&str> = line.split([' ', '\'', '"']).collect();
        let mut facts = json!({"effects": [{"run": {"args": words, "program": "x", "words": words}}]});
        assert!(redactor.may_redact_json(&facts.to_string()), "{line}");
        json(&mut facts, &redactor);
        assert!(!facts.to_string().contains("hunter2"), "{line}: {facts}");
    }
    let texts = taken_from(&json!({"command": "git status", "secret": "ab"}), &Secrets);
    let redactor = Taken { redactor: &Secrets, texts: &texts };
    assert_eq!(redactor.redact("cabin"), "cabin", "a short one may be part of any word");
    assert_eq!(redactor.redact("ab"), REDACTED);
}
