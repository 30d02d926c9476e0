//! Every folder in `examples/` is a policy without warnings whose tests pass.

use std::fs;

use crate::root;
use crate::sandbox::Sandbox;

#[test]
fn every_example_is_accepted_and_its_tests_pass() {
    let page = fs::read_to_string(root().join("examples/README.md")).unwrap();
    let mut ran = 0;
    for entry in fs::read_dir(root().join("examples")).unwrap() {
        let folder = entry.unwrap().path();
        if !folder.is_dir() {
            continue;
        }
        let name = folder.file_name().unwrap().to_str().unwrap().to_owned();
        let sandbox = Sandbox::new();
        for file in
            fs::read_dir(&folder).unwrap().map(|file| file.unwrap().path()).filter(|file| file.is_file())
        {
            let within = file.file_name().unwrap().to_str().unwrap();
            sandbox.write(within, &fs::read_to_string(&file).unwrap());
        }
        for test in fs::read_dir(folder.join("policy_tests")).unwrap() {
            let file = test.unwrap().path();
            let within = format!("policy_tests/{}", file.file_name().unwrap().to_str().unwrap());
            sandbox.write(&within, &fs::read_to_string(&file).unwrap());
        }
        let check = sandbox.lictor(&["check"]);
        assert!(check.code == 0 && check.stdout.contains("0 warnings"), "{name}: {check:?}");
        let test = sandbox.lictor(&["test"]);
        assert_eq!(test.code, 0, "{name}: {}{}", test.stdout, test.stderr);
        assert!(page.contains(&format!("]({name}/governance.yaml)")), "{name} is missing on the page");
        ran += 1;
    }
    assert_ne!(ran, 0);
}
