use super::{Feedback, Severity};

/// The feedback of the deadline provider. Times in milliseconds; `left` is negative after the deadline.
#[must_use]
pub fn deadline(elapsed: i64, left: i64, warn_below: u64) -> Feedback {
    if left <= 0 {
        return Feedback {
            summary: format!("The work took {}. The time deadline has been reached.", duration(elapsed)),
            suggestions: vec!["Wrap up immediately.".to_owned()],
            severity: Severity::Warning,
            ..Feedback::default()
        };
    }
    let summary = format!(
        "The work so far took {}. You have {} remaining to complete the task.",
        duration(elapsed),
        duration(left)
    );
    if u64::try_from(left).is_ok_and(|left| left > warn_below) {
        return Feedback::say(summary);
    }
    Feedback {
        summary,
        suggestions: vec![
            "Prioritize completing critical remaining work.".to_owned(),
            "Consider summarizing progress and remaining tasks.".to_owned(),
        ],
        severity: Severity::Warning,
        ..Feedback::default()
    }
}

/// A length of time in words: whole seconds or minutes rounded down, hours with one decimal.
#[must_use]
pub fn duration(millis: i64) -> String {
    let seconds = millis / 1000;
    match seconds {
        ..=59 => format!("{seconds} seconds"),
        60..=119 => "1 minute".to_owned(),
        120..=3599 => format!("{} minutes", seconds / 60),
        _ => {
            let tenths = (seconds + 180) / 360;
            format!("{}.{} hours", tenths / 10, tenths % 10)
        }
    }
}
