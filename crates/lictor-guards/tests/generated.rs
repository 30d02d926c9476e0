//! Cases that are made from forms: program, way of naming a file, carrier. A form that lets one of the first names pass,
//! or stops one of the second, is a gap in a mechanism and not a missing row.

#[path = "judging/world.rs"]
mod world;

use std::collections::BTreeMap;

use serde::Deserialize;
use world::Judge;

/// Fewer cases than this mean that the forms were lost.
const AT_LEAST: usize = 2_100;

/// Forms with the names that are put into them.
#[derive(Debug, Deserialize)]
struct Group {
    stopped: Vec<String>,
    passes: Vec<String>,
    forms: Vec<String>,
}

#[test]
fn every_form_stops_the_first_names_and_passes_the_others() {
    let groups: BTreeMap<String, Group> =
        serde_saphyr::from_str(include_str!("generated/forms.yaml")).expect("the forms can be read");
    let judge = Judge::new();
    let mut count = 0;
    let mut wrong = Vec::new();
    for (name, group) in &groups {
        let stopped = group.stopped.iter().map(|file| (file, false));
        let names: Vec<(&String, bool)> =
            stopped.chain(group.passes.iter().map(|file| (file, true))).collect();
        for form in &group.forms {
            for (file, passes) in &names {
                let command = form.replace("FILE", file);
                count += 1;
                if judge.decision(&command).allows() != *passes {
                    wrong.push(format!(
                        "{name}: {command:?} should {}",
                        if *passes { "pass" } else { "be stopped" }
                    ));
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{} of {count}:\n{}", wrong.len(), wrong.join("\n"));
    assert!(count >= AT_LEAST, "only {count} cases");
}
