use std::time::Duration;

use super::line;

#[test]
fn a_bar_where_the_end_is_known_and_a_clock_where_it_is_not() {
    let half = line("replaying", 50, 100, Duration::from_millis(2_900));
    assert_eq!(half, format!("replaying [{}{}] 50/100  2 s", "#".repeat(20), " ".repeat(20)));
    let over = line("checking", 7, 5, Duration::from_secs(3));
    assert_eq!(over, format!("checking [{}] 5/5  3 s", "#".repeat(40)));
    assert_eq!(line("reading", 9, 0, Duration::from_secs(61)), "reading … 61 s");
    assert_eq!(line("x", u64::MAX, u64::MAX, Duration::ZERO).matches('#').count(), 40);
}
