//! Labelled commands in a project that has a file of variables: variables that the file sets, and trees that
//! contain it.

#[path = "judging/world.rs"]
mod world;

use lictor_observe::FakeObserver;
use world::{Judge, Table, corpus_in, read_cases};

/// The project of the other corpus with what most projects have beside their code.
fn project() -> FakeObserver {
    FakeObserver::for_judging()
        .file(
            "/home/user/project/.env",
            "DATABASE_URL=postgres://u:p@localhost/shop\nSECRET_KEY=abcd1234\nexport STRIPE_KEY=sk_test_x\n\
             NEXT_PUBLIC_MAPS_KEY=pk_x\nPORT=3000\nAPI_URL=https://api.shop.example\nAPI_KEY=k1\nOUT=dist\n",
        )
        .file("/home/user/project/src/main.py", "print(1)\n")
        .file("/home/user/project/dist/app.js", "x\n")
}

#[test]
fn secrets_of_the_project_stay_there() {
    let files = corpus_in("tests/project-with-secrets");
    let cases: Vec<_> = files.iter().flat_map(|path| read_cases(path)).collect();
    assert!(cases.len() >= 40, "{} cases", cases.len());
    let table = Table::judge(&Judge::in_world(project()), &cases);
    let wrong: Vec<String> =
        table.wrong.iter().map(|(case, got)| format!("{} got {got}: {}", case.id, case.command)).collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
