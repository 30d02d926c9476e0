use super::{BASE_FUEL, FUEL_PER_BYTE, Nowhere, Scene, Walker};

/// Fuel used for a text.
fn fuel(text: &str) -> u64 {
    let mut walker = Walker::new(&Nowhere, text.len());
    let before = walker.fuel;
    walker.text(text, Scene { certain: true, attributable: true, capture: false });
    before - walker.fuel
}

#[test]
fn work_grows_with_the_text_and_not_faster() {
    let units = [
        "a b c; ",
        "rm -rf $x; ",
        "x=$(echo a); ",
        "echo a | sh; ",
        "{a,b,c}; ",
        "for i in 1 2 3; do a $i; done; ",
        "f() { a; }; f; ",
        "if a; then b; fi; ",
        "x=$x; ",
        "(a); ",
        "a && b || c; ",
        "cd a; ",
        "x=1; (x=2); ",
        "cat <<E\na\nE\n",
        "echo a > f; sh f; ",
        "bash -c 'a'; ",
        "alias a=b; a; ",
        "a=(b c); ${a[@]}; ",
    ];
    for unit in units {
        let (small, large) = (fuel(&unit.repeat(50)), fuel(&unit.repeat(500)));
        assert!(large <= small * 12, "{unit:?}: {small} for 50, {large} for 500");
    }
}

#[test]
fn work_ends_whatever_the_text_makes_of_itself() {
    let nested_loops = format!("{}a{}", "for i in 1 2 3 4 5 6 7 8; do ".repeat(20), "; done".repeat(20));
    let calls: String = (0..60).map(|n| format!("f{n}() {{ f{}; f{}; }}; ", n + 1, n + 1)).collect();
    let doubling = format!("x=aa; {}echo $x", "x=$x$x; ".repeat(100));
    let evals = format!("x='eval $x; eval $x'; {}", "eval \"$x\"; ".repeat(10));
    let files = format!("{}sh f", "cat f f > g; cp g f; ".repeat(200));
    for text in [nested_loops, calls + "f0", doubling, evals, files] {
        let most = BASE_FUEL + FUEL_PER_BYTE * text.len() as u64;
        assert!(fuel(&text) <= most);
    }
}
