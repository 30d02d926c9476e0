//! Time for people.

use std::time::{SystemTime, UNIX_EPOCH};

use jiff::civil::{Date, DateTime};
use jiff::tz::TimeZone;
use jiff::{ToSpan as _, Zoned};
use lictor_core::Timestamp;

/// `2026-11-15 21:04:05Z`, if the local zone has no such time.
pub fn utc(at: Timestamp) -> String {
    let seconds = at.0.div_euclid(1000);
    let (days, rest) = (seconds.div_euclid(86_400), seconds.rem_euclid(86_400));
    let (year, month, day) = civil(days);
    format!("{year:04}-{month:02}-{day:02} {:02}:{:02}:{:02}Z", rest / 3600, rest / 60 % 60, rest % 60)
}

/// Now.
pub fn now() -> Timestamp {
    // For tests only; a release binary ignores it.
    #[cfg(debug_assertions)]
    if let Some(millis) = std::env::var("LICTOR_TEST_CLOCK").ok().and_then(|text| text.parse().ok()) {
        return Timestamp(millis);
    }
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    Timestamp(i64::try_from(since.as_millis()).unwrap_or(i64::MAX))
}

/// `2026-11-15 21:04:05` where the reader is.
pub fn local(at: Timestamp) -> String {
    zoned(at).map_or_else(|| utc(at), |at| at.strftime("%Y-%m-%d %H:%M:%S").to_string())
}

/// The local minute: `2026-11-15 21:04`.
pub fn minute(at: Timestamp) -> String {
    zoned(at).map_or_else(|| utc(at), |at| at.strftime("%Y-%m-%d %H:%M").to_string())
}

/// The time of day where the reader is: `21:04:05`.
pub fn clock(at: Timestamp) -> String {
    zoned(at).map_or_else(|| utc(at), |at| at.strftime("%H:%M:%S").to_string())
}

/// The day where the reader is: `2026-11-15`.
pub fn day(at: Timestamp) -> String {
    zoned(at).map_or_else(|| utc(at), |at| at.strftime("%Y-%m-%d").to_string())
}

fn zoned(at: Timestamp) -> Option<Zoned> {
    jiff::Timestamp::from_millisecond(at.0).ok().map(|at| at.to_zoned(TimeZone::system()))
}

/// A time as people say it: how long ago (`90m`, `2d`, `3w`), `today`, `yesterday`, a day of the week (the last one), a
/// date, a time of today, or both.
pub fn parse(text: &str, now: Timestamp) -> Option<Timestamp> {
    let text = text.trim().to_ascii_lowercase();
    if let Some(weeks) = text.strip_suffix('w').and_then(|weeks| weeks.parse::<i64>().ok()) {
        return Some(now.plus_millis(weeks.checked_mul(-7 * 86_400_000)?));
    }
    if let Some(millis) = lictor_config::millis(&text) {
        return Some(now.plus_millis(-i64::try_from(millis).ok()?));
    }
    let here = zoned(now)?;
    let midnight = |date: Date| Some(stamp(&date.to_zoned(here.time_zone().clone()).ok()?));
    let today = here.date();
    match text.as_str() {
        "now" => return Some(now),
        "today" => return midnight(today),
        "yesterday" => return midnight(today.yesterday().ok()?),
        _ => {}
    }
    let days = ["monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday"];
    if let Some(wanted) = days.iter().position(|day| text.len() >= 3 && day.starts_with(&text)) {
        let is = usize::try_from(today.weekday().to_monday_zero_offset()).ok()?;
        let back = i64::try_from((is + 7 - wanted) % 7).ok()?;
        return midnight(today.checked_sub(back.days()).ok()?);
    }
    if let Ok(at) = text.to_ascii_uppercase().parse::<jiff::Timestamp>() {
        return Some(Timestamp(at.as_millisecond()));
    }
    let text = text.replacen(' ', "t", 1).to_ascii_uppercase();
    if let Ok(at) = text.parse::<DateTime>() {
        return Some(stamp(&at.to_zoned(here.time_zone().clone()).ok()?));
    }
    let time: jiff::civil::Time = text.parse().ok()?;
    Some(stamp(&today.to_datetime(time).to_zoned(here.time_zone().clone()).ok()?))
}

fn stamp(at: &Zoned) -> Timestamp {
    Timestamp(at.timestamp().as_millisecond())
}

/// A duration in words: `40s`, `12m`, `3h`.
pub fn length(millis: i64) -> String {
    age(Timestamp(0), Timestamp(millis))
}

/// The clock of the engine.
pub struct Clock;

impl lictor_core::Clock for Clock {
    fn now(&self) -> Timestamp {
        now()
    }
}

/// How long ago, in the largest unit that fits: `5s`, `12m`, `3h`, `2d`.
pub fn age(at: Timestamp, now: Timestamp) -> String {
    let seconds = now.millis_since(at).max(0) / 1000;
    match seconds {
        0..=59 => format!("{seconds}s"),
        60..=3_599 => format!("{}m", seconds / 60),
        3_600..=86_399 => format!("{}h", seconds / 3_600),
        _ => format!("{}d", seconds / 86_400),
    }
}

/// The date of a day counted from 1970-01-01, in the proleptic Gregorian calendar.
fn civil(days: i64) -> (i64, i64, i64) {
    let shifted = days + 719_468;
    let era = shifted.div_euclid(146_097);
    let day_of_era = shifted.rem_euclid(146_097);
    let year_of_era = (day_of_era - day_of_era / 1_460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let month_index = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * month_index + 2) / 5 + 1;
    let month = if month_index < 10 { month_index + 3 } else { month_index - 9 };
    let year = year_of_era + era * 400 + i64::from(month <= 2);
    (year, month, day)
}

#[cfg(test)]
mod tests;
