//! Points in time: those of records, and those of the command line.

use std::str::FromStr;
use std::time::{SystemTime, UNIX_EPOCH};

const SECOND: i64 = 1_000;
const HOUR: i64 = 3_600 * SECOND;
const DAY: i64 = 24 * HOUR;

/// The first moment that counts, in unix milliseconds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Since(pub(super) i64);

/// The first moment that does not count any more, in unix milliseconds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Until(pub(super) i64);

impl FromStr for Since {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        given(text).map(|(time, _)| Self(time))
    }
}

impl FromStr for Until {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        given(text).map(|(time, length)| Self(time.saturating_add(length)))
    }
}

/// Reads a time of the command line and how long it lasts: a date is a whole day.
fn given(text: &str) -> Result<(i64, i64), String> {
    if let Some(time) = ago(text, now()) {
        return Ok((time, 0));
    }
    let length = if text.contains('T') { 1 } else { DAY };
    let wrong = || "expected 2026-11-01, 2026-11-01T10:00:00Z, 30d or 12h".to_owned();
    parse(text).map(|time| (time, length)).ok_or_else(wrong)
}

fn ago(text: &str, now: i64) -> Option<i64> {
    let (number, unit) = match text.strip_suffix('d') {
        Some(number) => (number, DAY),
        None => (text.strip_suffix('h')?, HOUR),
    };
    let number: u32 = number.parse().ok()?;
    Some(now.saturating_sub(i64::from(number).saturating_mul(unit)))
}

fn now() -> i64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    i64::try_from(since.as_millis()).unwrap_or(i64::MAX)
}

/// Reads `2026-11-01` or `2026-11-01T10:00:00.000Z` as unix milliseconds; what has no zone is in UTC.
pub(super) fn parse(text: &str) -> Option<i64> {
    let (date, clock) = match text.split_once('T') {
        Some((date, clock)) => (date, Some(clock)),
        None => (text, None),
    };
    let mut parts = date.splitn(3, '-');
    let (year, month, day) =
        (number(parts.next()?, 4)?, number(parts.next()?, 2)?, number(parts.next()?, 2)?);
    if !(1..=12).contains(&month) || !(1..=31).contains(&day) {
        return None;
    }
    Some(days(year, month, day) * DAY + clock.map_or(Some(0), parse_clock)?)
}

fn parse_clock(clock: &str) -> Option<i64> {
    let zone = clock.find(['Z', '+', '-']).unwrap_or(clock.len());
    let (clock, zone) = clock.split_at_checked(zone)?;
    let mut parts = clock.splitn(3, ':');
    let (hour, minute) = (number(parts.next()?, 2)?, number(parts.next()?, 2)?);
    let (second, fraction) = match parts.next().unwrap_or("00").split_once('.') {
        Some((second, fraction)) => (number(second, 2)?, fraction),
        None => (number(clock.splitn(3, ':').nth(2).unwrap_or("00"), 2)?, ""),
    };
    if hour > 23 || minute > 59 || second > 60 || !fraction.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    let millis: String = fraction.chars().chain("000".chars()).take(3).collect();
    let local = hour * HOUR + minute * 60 * SECOND + second * SECOND + millis.parse::<i64>().ok()?;
    Some(local - parse_zone(zone)?)
}

/// Reads how much a zone is ahead of UTC.
fn parse_zone(zone: &str) -> Option<i64> {
    let sign = match zone.get(..1) {
        None | Some("Z") => return zone.get(1..).unwrap_or_default().is_empty().then_some(0),
        Some("-") => -1,
        Some(_) => 1,
    };
    let (hours, minutes) = zone.get(1..)?.split_once(':')?;
    Some(sign * (number(hours, 2)? * HOUR + number(minutes, 2)? * 60 * SECOND))
}

fn number(text: &str, digits: usize) -> Option<i64> {
    let is_plain = text.len() == digits && text.bytes().all(|byte| byte.is_ascii_digit());
    text.parse().ok().filter(|_| is_plain)
}

/// Counts the days from 1970-01-01 to a day of the Gregorian calendar, years beginning in March.
const fn days(year: i64, month: i64, day: i64) -> i64 {
    let year = if month <= 2 { year - 1 } else { year };
    let month = if month <= 2 { month + 9 } else { month - 3 };
    let era = year.div_euclid(400);
    let of_era = year.rem_euclid(400);
    let day_of_year = (153 * month + 2) / 5 + day - 1;
    era * 146_097 + of_era * 365 + of_era / 4 - of_era / 100 + day_of_year - 719_468
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_read_as_hosts_and_people_write_them() {
        let table = [
            ("1970-01-01", Some(0)),
            ("1970-01-02T00:00:00Z", Some(DAY)),
            ("2000-02-29", Some(951_782_400_000)),
            ("2026-11-01T10:00:00.123Z", Some(1_793_527_200_123)),
            ("2026-11-01T10:00:00.123456Z", Some(1_793_527_200_123)),
            ("2026-11-01T12:00:00.1+02:00", Some(1_793_527_200_100)),
            ("2026-11-01T05:00-05:00", Some(1_793_527_200_000)),
            ("2026-11-01T10:00", Some(1_793_527_200_000)),
            ("2026-13-01", None),
            ("2026-1-1", None),
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
    fn a_date_lasts_its_whole_day_and_spans_count_back() {
        assert_eq!("2026-11-01".parse::<Since>().unwrap().0 + DAY, "2026-11-01".parse::<Until>().unwrap().0);
        assert_eq!(ago("30d", 40 * DAY), Some(10 * DAY));
        assert_eq!(ago("12h", DAY), Some(DAY / 2));
        for text in ["d", "-1d", "1w", "99999999999d"] {
            assert_eq!(ago(text, 0), None, "{text}");
        }
        assert!("yesterday".parse::<Since>().is_err());
    }
}
