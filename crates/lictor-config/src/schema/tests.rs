use super::*;

/// Everything in a definition is reachable and nothing is left unfilled.
#[test]
fn every_reference_leads_somewhere() {
    let schema = schema();
    let text = schema.to_string();
    let definitions = schema["$defs"].as_object().unwrap();
    for (name, definition) in definitions {
        assert!(definition.is_object(), "{name} is not filled");
        assert!(text.contains(&format!("#/$defs/{name}\"")), "{name} is never used");
    }
    for reference in text.split("#/$defs/").skip(1) {
        let name = reference.split('"').next().unwrap();
        assert!(definitions.contains_key(name), "{name}");
    }
}

#[test]
fn keys_of_the_file_are_its_properties() {
    let schema = schema();
    let properties = schema["properties"].as_object().unwrap();
    let keys: Vec<&str> = FILE.keys.iter().map(|key| key.name).collect();
    assert_eq!(properties.len(), keys.len());
    assert!(keys.iter().all(|key| properties.contains_key(*key)));
    assert_eq!(schema["additionalProperties"], false);
}
