//! Times that people read and write: days and clock times of UTC, how long ago, and how long.

const SECOND_MS: u64 = 1000;
const HOUR_MS: u64 = 60 * 60 * SECOND_MS;

/// One day, in milliseconds.
pub const DAY_MS: u64 = 24 * HOUR_MS;

/// Writes a time as `2026-01-31 23:59:59`, in UTC.
pub fn time(at_ms: u64) -> String {
    let seconds = at_ms / 1000 % (DAY_MS / 1000);
    format!("{} {:02}:{:02}:{:02}", day(at_ms), seconds / 3600, seconds / 60 % 60, seconds % 60)
}

/// Writes how long something took, given in microseconds.
pub fn span(micros: u64) -> String {
    match micros {
        0..1_000 => format!("{micros} µs"),
        1_000..1_000_000 => format!("{}.{} ms", micros / 1_000, micros / 100 % 10),
        _ => format!("{}.{} s", micros / 1_000_000, micros / 100_000 % 10),
    }
}

/// Writes the day of a time as `2026-01-31`, in UTC.
pub fn day(at_ms: u64) -> String {
    let days = at_ms / DAY_MS;
    // Eras of 400 years have the same number of days; a year begins in March, so that a leap day is its last.
    let shifted = days + 719_468;
    let (era, of_era) = (shifted / 146_097, shifted % 146_097);
    let year_of_era = (of_era - of_era / 1_460 + of_era / 36_524 - of_era / 146_096) / 365;
    let of_year = of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let month_from_march = (5 * of_year + 2) / 153;
    let date = of_year - (153 * month_from_march + 2) / 5 + 1;
    let month = if month_from_march < 10 { month_from_march + 3 } else { month_from_march - 9 };
    let year = year_of_era + era * 400 + u64::from(month <= 2);
    format!("{year:04}-{month:02}-{date:02}")
}

/// Reads the first moment that counts: `30m`, `12h`, `7d` or `2w` before now, a date, or a time.
pub fn since(text: &str, now_ms: u64) -> Result<u64, String> {
    given(text, now_ms).map(|(at_ms, _)| at_ms)
}

/// Reads the first moment that does not count any more, in the same forms; a date counts with its whole day.
pub fn until(text: &str, now_ms: u64) -> Result<u64, String> {
    given(text, now_ms).map(|(at_ms, lasts)| at_ms.saturating_add(lasts))
}

/// Reads a time of the command line, and how long it lasts.
fn given(text: &str, now_ms: u64) -> Result<(u64, u64), String> {
    if let Some(age) = parse_age(text) {
        return Ok((now_ms.saturating_sub(age), 0));
    }
    let lasts = if text.contains(['T', ' ']) { 0 } else { DAY_MS };
    let wrong = || "expected `30m`, `12h`, `7d`, `2w`, `2026-01-31` or `2026-01-31T23:59:59Z`".to_owned();
    parse(text).map(|at_ms| (at_ms, lasts)).ok_or_else(wrong)
}

fn parse_age(text: &str) -> Option<u64> {
    let unit = text.chars().next_back()?;
    let each = match unit {
        's' => SECOND_MS,
        'm' => 60 * SECOND_MS,
        'h' => HOUR_MS,
        'd' => DAY_MS,
        'w' => 7 * DAY_MS,
        _ => return None,
    };
    text.strip_suffix(unit)?.parse::<u64>().ok().map(|count| count.saturating_mul(each))
}

/// Reads `2026-11-01` or `2026-11-01T10:00:00.000Z`, as people and session files write it; what has no zone is in UTC.
/// Nothing before 1970 is read.
pub fn parse(text: &str) -> Option<u64> {
    let (date, clock) = match text.split_once(['T', ' ']) {
        Some((date, clock)) => (date, Some(clock)),
        None => (text, None),
    };
    let mut parts = date.splitn(3, '-');
    let (year, month, date_of_month) =
        (number(parts.next()?, 4)?, number(parts.next()?, 2)?, number(parts.next()?, 2)?);
    let begins = days(year, month, date_of_month)?.checked_mul(DAY_MS)?;
    // A date that is written otherwise than it was read is not in the calendar: 30 February.
    if day(begins) != date {
        return None;
    }
    match clock {
        None => Some(begins),
        Some(clock) => parse_clock(clock, begins),
    }
}

/// Reads a clock time of the day that begins then.
fn parse_clock(clock: &str, begins: u64) -> Option<u64> {
    let (clock, zone) = clock.split_at_checked(clock.find(['Z', '+', '-']).unwrap_or(clock.len()))?;
    let mut parts = clock.splitn(3, ':');
    let (hour, minute) = (number(parts.next()?, 2)?, number(parts.next()?, 2)?);
    let (second, fraction) = parts
        .next()
        .unwrap_or("00")
        .split_once('.')
        .unwrap_or((clock.splitn(3, ':').nth(2).unwrap_or("00"), ""));
    let second = number(second, 2)?;
    if hour > 23 || minute > 59 || second > 60 || !fraction.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    let millis: String = fraction.chars().chain("000".chars()).take(3).collect();
    let local = hour * HOUR_MS + minute * 60 * SECOND_MS + second * SECOND_MS + millis.parse::<u64>().ok()?;
    in_utc(begins + local, zone)
}

/// Takes from a local time how much its zone is ahead of UTC.
fn in_utc(local: u64, zone: &str) -> Option<u64> {
    let ahead = |zone: &str| {
        let (hours, minutes) = zone.split_once(':')?;
        Some(number(hours, 2)? * HOUR_MS + number(minutes, 2)? * 60 * SECOND_MS)
    };
    match (zone.strip_prefix('+'), zone.strip_prefix('-')) {
        (Some(zone), _) => local.checked_sub(ahead(zone)?),
        (None, Some(zone)) => Some(local + ahead(zone)?),
        (None, None) => matches!(zone, "" | "Z").then_some(local),
    }
}

fn number(text: &str, digits: usize) -> Option<u64> {
    let is_plain = text.len() == digits && text.bytes().all(|byte| byte.is_ascii_digit());
    text.parse().ok().filter(|_| is_plain)
}

/// Counts the days from 1970-01-01 to a day of the Gregorian calendar, years beginning in March.
fn days(year: u64, month: u64, date: u64) -> Option<u64> {
    let (year, month) = if month <= 2 { (year.checked_sub(1)?, month + 9) } else { (year, month - 3) };
    let (era, of_era) = (year / 400, year % 400);
    let of_year = (153 * month + 2) / 5 + date.checked_sub(1)?;
    (era * 146_097 + of_era * 365 + of_era / 4 - of_era / 100 + of_year).checked_sub(719_468)
}

#[cfg(test)]
mod tests {
    use pretty_assertions::assert_eq;

    use super::*;

    #[test]
    fn times_are_those_of_the_calendar() {
        assert_eq!(time(0), "1970-01-01 00:00:00");
        assert_eq!(time(951_782_400_000), "2000-02-29 00:00:00");
        assert_eq!(time(1_767_225_599_999), "2025-12-31 23:59:59");
        assert_eq!(day(4_102_444_800_000), "2100-01-01");
    }

    #[test]
    fn what_is_written_is_read_again() {
        for at_ms in (0..200).map(|step| step * 20_000_000_123 / 1000 * 1000) {
            assert_eq!(parse(&time(at_ms)), Some(at_ms));
            assert_eq!(parse(&day(at_ms)), Some(at_ms / DAY_MS * DAY_MS));
        }
    }

    #[test]
    fn times_are_read_as_hosts_and_people_write_them() {
        let table = [
            ("1970-01-01", Some(0)),
            ("1970-01-02T00:00:00Z", Some(DAY_MS)),
            ("2000-02-29", Some(951_782_400_000)),
            ("2026-11-01T10:00:00.123Z", Some(1_793_527_200_123)),
            ("2026-11-01T10:00:00.123456Z", Some(1_793_527_200_123)),
            ("2026-11-01T12:00:00.1+02:00", Some(1_793_527_200_100)),
            ("2026-11-01T05:00-05:00", Some(1_793_527_200_000)),
            ("2026-11-01T10:00", Some(1_793_527_200_000)),
            ("2026-02-30", None),
            ("2026-13-01", None),
            ("2026-00-01", None),
            ("2026-01-00", None),
            ("2026-1-1", None),
            ("1969-12-31", None),
            ("0000-01-01", None),
            ("2026-11-01T25:00:00Z", None),
            ("2026-11-01T10:00:00.xZ", None),
            ("2026-11-01T10:00:00Zulu", None),
            ("+026-11-01", None),
            ("", None),
            ("T", None),
            ("é", None),
        ];
        for (text, expected) in table {
            assert_eq!(parse(text), expected, "{text}");
        }
    }

    #[test]
    fn an_age_counts_back_a_date_lasts_its_day_and_nonsense_is_refused() {
        let now = 1_800_000_000_000;
        assert_eq!(since("90m", now), Ok(now - 5_400_000));
        assert_eq!(until("2w", now), Ok(now - 14 * DAY_MS));
        assert_eq!(since("2026-01-31T10:30Z", now), Ok(1_769_855_400_000));
        assert_eq!(until("2026-01-31T10:30Z", now), Ok(1_769_855_400_000));
        assert_eq!(since("2026-01-31", now).map(|at_ms| at_ms + DAY_MS), until("2026-01-31", now));
        for wrong in ["x", "7", "d", "-1d", "99999999999999999999d", "yesterday", "2026-02-30"] {
            assert!(since(wrong, now).is_err(), "{wrong}");
        }
    }
}
