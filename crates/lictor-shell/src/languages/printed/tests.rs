use crate::Nowhere;

fn prints_secret(code: &str) -> bool {
    let line = format!("node -e '{code}'");
    let reading = crate::read(&line, &Nowhere);
    let secret = |effect: &crate::Effect<_>| matches!(effect, crate::Effect::Deed { object, .. } if object == "secret");
    reading.effects.iter().any(secret)
}

/// Every way to print, of every way to name the variable.
#[test]
fn whole_values_of_secret_variables_are_printed() {
    let values = [
        "process.env.API_KEY",
        "process.env[\"API_KEY\"]",
        "process.env.API_KEY || \"\"",
        "process.env.API_KEY ?? \"none\"",
        "(process.env.API_KEY)",
        "`key: ${process.env.API_KEY}`",
        "\"key: \" + process.env.API_KEY",
        "Deno.env.get(\"API_KEY\")",
    ];
    for print in crate::words::CODE_PRINTS {
        for value in values {
            assert!(prints_secret(&format!("{print}({value})")), "{print}({value})");
        }
    }
}

#[test]
fn what_is_asked_about_a_variable_is_not_its_value() {
    for code in [
        "console.log(!!process.env.API_KEY)",
        "console.log(process.env.API_KEY ? 1 : 2)",
        "console.log(process.env.API_KEY.length)",
        "console.log(typeof process.env.API_KEY)",
        "console.log(process.env.PORT || 3000)",
        "console.log(process.env.NODE_ENV)",
        "start(process.env.API_KEY)",
    ] {
        assert!(!prints_secret(code), "{code}");
    }
}
