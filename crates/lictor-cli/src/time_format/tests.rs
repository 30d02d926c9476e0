use super::*;

#[test]
fn dates_are_right_across_leap_years() {
    for (millis, text) in [
        (0, "1970-01-01 00:00:00Z"),
        (951_782_399_000, "2000-02-28 23:59:59Z"),
        (951_782_400_000, "2000-02-29 00:00:00Z"),
        (1_709_164_800_000, "2024-02-29 00:00:00Z"),
        (4_102_444_800_000, "2100-01-01 00:00:00Z"),
        (-1_000, "1969-12-31 23:59:59Z"),
    ] {
        assert_eq!(utc(Timestamp(millis)), text);
    }
}

#[test]
fn times_are_understood_as_people_say_them() {
    // A Monday, 2026-11-16 16:00:00 UTC.
    let now = Timestamp(1_794_844_800_000);
    let hours = |text: &str| parse(text, now).map(|at| now.millis_since(at) / 3_600_000);
    assert_eq!(hours("2d"), Some(48));
    assert_eq!(hours("90m"), Some(1));
    assert_eq!(hours("1w"), Some(168));
    assert_eq!(hours("2026-11-16T14:00:00Z"), Some(2));
    assert!(hours("today").is_some_and(|hours| hours < 24));
    assert_eq!(hours("yesterday").zip(hours("today")).map(|(a, b)| a - b), Some(24));
    assert!(hours("tuesday").is_some_and(|hours| (100..170).contains(&hours)));
    assert!(hours("mon").is_some_and(|hours| !(24..=120).contains(&hours)));
    assert!(hours("2026-11-01").is_some_and(|hours| hours > 300));
    for nonsense in ["", "soon", "2x", "2026-13-01"] {
        assert_eq!(parse(nonsense, now), None, "{nonsense}");
    }
}
