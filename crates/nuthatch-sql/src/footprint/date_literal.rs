//! Dates and moments as literals: those that are written in full, and are days of the calendar, are what they say to every server.

use crate::compared::ColumnValue;

/// A date, `2026-11-27`.
pub(super) fn date(text: &[u8]) -> Option<ColumnValue> {
    day(text).map(ColumnValue::of_date)
}

/// A date with a time of day, `2026-11-27 09:30:00`.
pub(super) fn moment(text: &[u8]) -> Option<ColumnValue> {
    let (date, time) = text.split_at_checked(10)?;
    let time = numbers(time.strip_prefix(b" ")?, [2, 2, 2], b':')?;
    let [hour, minute, second] = time;
    (hour < 24 && minute < 60 && second < 60).then_some(())?;
    Some(ColumnValue::of_moment(day(date)?, time))
}

/// Year, month and day, if there is such a day.
fn day(text: &[u8]) -> Option<[u16; 3]> {
    let date @ [year, month, day] = numbers(text, [4, 2, 2], b'-')?;
    let is_leap = year.is_multiple_of(4) && (!year.is_multiple_of(100) || year.is_multiple_of(400));
    let days = match month {
        4 | 6 | 9 | 11 => 30,
        2 if is_leap => 29,
        2 => 28,
        _ => 31,
    };
    (year > 0 && (1..=12).contains(&month) && (1..=days).contains(&day)).then_some(date)
}

/// Three numbers of so many digits, with that between them.
fn numbers(text: &[u8], digits: [usize; 3], between: u8) -> Option<[u16; 3]> {
    let mut rest = text;
    let mut found = [0; 3];
    for (at, (number, count)) in found.iter_mut().zip(digits).enumerate() {
        if at > 0 {
            rest = rest.strip_prefix(&[between])?;
        }
        let (head, tail) = rest.split_at_checked(count)?;
        head.iter().all(u8::is_ascii_digit).then_some(())?;
        *number = std::str::from_utf8(head).ok()?.parse().ok()?;
        rest = tail;
    }
    rest.is_empty().then_some(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn days_of_the_calendar_that_are_written_in_full_are_told() {
        for (text, told) in [
            ("2026-11-27", Some([2026, 11, 27])),
            ("2024-02-29", Some([2024, 2, 29])),
            ("2000-02-29", Some([2000, 2, 29])),
            ("1900-02-29", None),
            ("2026-04-31", None),
            ("2026-13-01", None),
            ("2026-00-10", None),
            ("0000-00-00", None),
            ("2026-1-5", None),
            ("26-11-27", None),
            ("2026-11-27 ", None),
            ("2026/11/27", None),
            ("20261127", None),
            ("2026-11-+7", None),
            ("2026-11-27x", None),
        ] {
            assert_eq!(date(text.as_bytes()), told.map(ColumnValue::of_date), "{text}");
        }
    }

    #[test]
    fn moments_that_are_written_in_full_are_told() {
        let of_morning = ColumnValue::of_moment([2026, 11, 27], [9, 30, 0]);
        assert_eq!(moment(b"2026-11-27 09:30:00"), Some(of_morning));
        for none in [
            "2026-11-27",
            "2026-11-27T09:30:00",
            "2026-11-27 9:30:00",
            "2026-11-27 24:00:00",
            "2026-11-27 09:30:00.0",
        ] {
            assert_eq!(moment(none.as_bytes()), None, "{none}");
        }
    }
}
