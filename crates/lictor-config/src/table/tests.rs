use super::*;
use crate::sections::FILE;
use crate::sections::graph::COMBINATORS;
use crate::{Origin, Source, load};

/// Builds a whole file around a value at some place in it.
type Way<'a> = &'a dyn Fn(&str) -> String;

fn problems(text: &str) -> Vec<String> {
    let source = Source { origin: Origin::User, path: "g.yaml".to_owned(), bytes: text.as_bytes().to_vec() };
    match load(&[source]) {
        Ok(_) => Vec::new(),
        Err(error) => error.diagnostics.iter().map(|problem| problem.message.clone()).collect(),
    }
}

/// A map of the table with this key and the required keys.
fn map_with(table: &Table, key: &Key, value: &str) -> String {
    let needed = table.keys.iter().filter(|other| other.required && other.name != key.name);
    let mut entries: Vec<String> = needed.map(|other| format!("{}: {}", other.name, other.example)).collect();
    entries.push(format!("{}: {value}", key.name));
    format!("{{{}}}", entries.join(", "))
}

fn visit(table: &'static Table, way: Way<'_>, seen: &mut Vec<&'static str>, count: &mut usize) {
    if seen.contains(&table.name) {
        return;
    }
    seen.push(table.name);
    for key in table.keys {
        *count += 1;
        let text = way(&map_with(table, key, key.example));
        // Some keys exclude each other or need others; but the reader must know every key of its table, with the
        // type that the table declares.
        for problem in problems(&text) {
            let unknown = ["unknown key", "must be", "cannot be", "not a regular", "there is no field"];
            assert!(!unknown.iter().any(|word| problem.contains(word)), "{text}\n{problem}");
        }
        // A map with an unknown key is valid only where the author chooses the keys.
        if !matches!(key.shape, Shape::Names(_) | Shape::ByActions(_) | Shape::Data) {
            let text = way(&map_with(table, key, "{zzz: {zzz: zzz}}"));
            assert!(!problems(&text).is_empty(), "accepted: {text}");
        }
        below(&key.shape, &|inner| way(&map_with(table, key, inner)), seen, count);
    }
}

fn below(shape: &'static Shape, way: Way<'_>, seen: &mut Vec<&'static str>, count: &mut usize) {
    match shape {
        Shape::List(inner) => below(inner, &|text| way(&format!("[{text}]")), seen, count),
        Shape::Names(inner) => below(inner, &|text| way(&format!("{{name: {text}}}")), seen, count),
        Shape::Fields(table) => visit(table, way, seen, count),
        Shape::OneOf(shapes) => shapes.iter().for_each(|inner| below(inner, way, seen, count)),
        _ => {}
    }
}

#[test]
fn the_reader_knows_every_key_of_every_table_and_its_type() {
    let (mut seen, mut count) = (Vec::new(), 0);
    visit(&FILE, &str::to_owned, &mut seen, &mut count);
    for combinator in COMBINATORS {
        let sections =
            "intent: [{for: x}], budget: {max_actions: 1}, network: {}, boundaries: {}, bash_safety: {}";
        visit(combinator, &|node| format!("{{{sections}, policy: {node}}}"), &mut seen, &mut count);
    }
    assert!(count > 100, "only {count} keys were tried");
}
