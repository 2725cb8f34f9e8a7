//! The day of a yes, as people write it.

const DAY_MS: u64 = 24 * 60 * 60 * 1_000;
const MONTHS: [&str; 12] =
    ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];

/// Returns the day of a time in UTC: `12 Nov`, with the year if that is another one than now.
pub(super) fn day_of(at_ms: u64, now_ms: u64) -> String {
    let (year, month, day) = date_of(at_ms);
    let month = MONTHS.get(month).copied().unwrap_or_default();
    if date_of(now_ms).0 == year { format!("{day} {month}") } else { format!("{day} {month} {year}") }
}

/// Returns the year, the month from zero on and the day. Years are counted from March on, so that the day that some of
/// them have more stands at their end.
fn date_of(at_ms: u64) -> (u64, usize, u64) {
    let days = at_ms / DAY_MS + 719_468;
    let (era, of_era) = (days / 146_097, days % 146_097);
    let year_of_era = (of_era - of_era / 1_460 + of_era / 36_524 - of_era / 146_096) / 365;
    let of_year = of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let from_march = (5 * of_year + 2) / 153;
    let day = of_year - (153 * from_march + 2) / 5 + 1;
    let month = (from_march + 2) % 12;
    let year = year_of_era + era * 400 + u64::from(month < 2);
    (year, usize::try_from(month).unwrap_or_default(), day)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn days_are_those_of_the_calendar() {
        let table = [
            (0, "1 Jan 1970"),
            (951_782_400_000, "29 Feb 2000"),
            (951_868_800_000, "1 Mar 2000"),
            (1_762_905_600_000, "12 Nov"),
            (1_767_139_200_000, "31 Dec"),
            (1_767_225_600_000, "1 Jan 2026"),
        ];
        for (at_ms, expected) in table {
            assert_eq!(day_of(at_ms, 1_762_905_600_000), expected);
        }
    }
}
