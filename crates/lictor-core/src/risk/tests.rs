use super::*;

#[test]
fn json_has_fractions_and_older_records_thousandths() {
    for (risk, text) in [(Risk::NONE, "0"), (Risk::thousandths(250), "0.25"), (Risk::MAX, "1.0")] {
        assert_eq!(serde_json::to_string(&risk).unwrap(), text);
        assert_eq!(serde_json::from_str::<Risk>(text).unwrap(), risk);
    }
    assert_eq!(serde_json::from_str::<Risk>("250").unwrap(), Risk::thousandths(250));
    assert_eq!(serde_json::from_str::<Risk>("1").unwrap(), Risk::MAX);
    for wrong in ["-1", "-0.5", "70000", "\"0.5\"", "null"] {
        assert!(serde_json::from_str::<Risk>(wrong).is_err(), "{wrong}");
    }
    for thousandths in 0..=1000 {
        let risk = Risk::thousandths(thousandths);
        let text = serde_json::to_string(&risk).unwrap();
        assert_eq!(serde_json::from_str::<Risk>(&text).unwrap(), risk, "{text}");
        let bytes = postcard::to_allocvec(&risk).unwrap();
        assert_eq!(postcard::from_bytes::<Risk>(&bytes).unwrap(), risk);
    }
}
