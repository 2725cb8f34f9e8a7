//! Times that people read and write: days and clock times of UTC, how long ago, and how long.

/// One day, in milliseconds.
pub(crate) const DAY_MS: u64 = 24 * 60 * 60 * 1000;

/// Writes a time as `2026-01-31 23:59:59`, in UTC.
pub(crate) fn time(at_ms: u64) -> String {
    let seconds = at_ms / 1000 % (DAY_MS / 1000);
    format!("{} {:02}:{:02}:{:02}", day(at_ms), seconds / 3600, seconds / 60 % 60, seconds % 60)
}

/// Writes how long something took, given in microseconds.
pub(crate) fn span(micros: u64) -> String {
    match micros {
        0..1_000 => format!("{micros} µs"),
        1_000..1_000_000 => format!("{}.{} ms", micros / 1_000, micros / 100 % 10),
        _ => format!("{}.{} s", micros / 1_000_000, micros / 100_000 % 10),
    }
}

/// Writes the day of a time as `2026-01-31`, in UTC.
pub(crate) fn day(at_ms: u64) -> String {
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

/// Reads a time: `30m`, `12h`, `7d` or `2w` before now, a day as `2026-01-31`, or a time as `2026-01-31T23:59:59`.
pub(crate) fn parse(text: &str, now_ms: u64) -> Result<u64, String> {
    let wrong =
        || "expected `30m`, `12h`, `7d`, `2w`, `2026-01-31` or `2026-01-31T23:59:59` (UTC)".to_owned();
    if let Some(age) = parse_age(text) {
        return Ok(now_ms.saturating_sub(age));
    }
    let (date, clock) = text.split_once(['T', ' ']).map_or((text, ""), |(date, clock)| (date, clock));
    let date = parse_day(date).ok_or_else(wrong)?;
    let clock = parse_clock(clock.strip_suffix('Z').unwrap_or(clock)).ok_or_else(wrong)?;
    Ok(date + clock)
}

fn parse_age(text: &str) -> Option<u64> {
    let unit = text.chars().next_back()?;
    let each = match unit {
        's' => 1000,
        'm' => 60 * 1000,
        'h' => 60 * 60 * 1000,
        'd' => DAY_MS,
        'w' => 7 * DAY_MS,
        _ => return None,
    };
    text.strip_suffix(unit)?.parse::<u64>().ok().map(|count| count.saturating_mul(each))
}

/// Finds the beginning of a day by going through the days it can be.
fn parse_day(text: &str) -> Option<u64> {
    let mut parts = text.split('-').map(|part| part.parse::<u64>().ok());
    let (year, month, date) = (parts.next()??, parts.next()??, parts.next()??);
    if parts.next().is_some() || !(1970..=9999).contains(&year) {
        return None;
    }
    let wanted = format!("{year:04}-{month:02}-{date:02}");
    // A year has 365 days and some leap days; the first guess is never too late.
    let guess = (year - 1970) * 365;
    let days = guess..guess + (year - 1970) / 4 + 368;
    days.map(|days| days * DAY_MS).find(|at_ms| day(*at_ms) == wanted)
}

fn parse_clock(text: &str) -> Option<u64> {
    if text.is_empty() {
        return Some(0);
    }
    let parts: Option<Vec<u64>> = text.split(':').map(|part| part.parse().ok()).collect();
    let (hours, minutes, seconds) = match parts?.as_slice() {
        [hours, minutes] => (*hours, *minutes, 0),
        [hours, minutes, seconds] => (*hours, *minutes, *seconds),
        _ => return None,
    };
    let is_clock = hours < 24 && minutes < 60 && seconds < 60;
    is_clock.then_some((hours * 3600 + minutes * 60 + seconds) * 1000)
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
            assert_eq!(parse(&time(at_ms), 0), Ok(at_ms));
            assert_eq!(parse(&day(at_ms), 0), Ok(at_ms / DAY_MS * DAY_MS));
        }
    }

    #[test]
    fn an_age_counts_back_and_nonsense_is_refused() {
        let now = 1_800_000_000_000;
        assert_eq!(parse("90m", now), Ok(now - 5_400_000));
        assert_eq!(parse("2w", now), Ok(now - 14 * DAY_MS));
        assert!(parse("99999999999999999999d", now).is_err());
        assert_eq!(parse("2026-01-31T10:30Z", now), Ok(1_769_855_400_000));
        for wrong in
            ["", "x", "7", "d", "é", "2026-02-30", "2026-13-01", "1969-01-01", "2026-01-31T25:00", "-1d"]
        {
            assert!(parse(wrong, now).is_err(), "{wrong}");
        }
    }
}
