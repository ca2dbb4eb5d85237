//! Times (RFC 3339) and durations (as Go writes them). Nothing here reads a clock.

use alloc::format;
use alloc::string::String;

/// Milliseconds since 1970-01-01T00:00:00Z.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Time(pub i64);

impl Time {
    /// The time that `text` names (RFC 3339), to the millisecond.
    pub fn parse(text: &str) -> Option<Time> {
        let bytes = text.as_bytes();
        if bytes.len() < 20 || !text.is_ascii() {
            return None;
        }
        let number = |from: usize, to: usize| text.get(from..to)?.parse::<i64>().ok();
        let fixed = [(4, b'-'), (7, b'-'), (13, b':'), (16, b':')];
        if fixed.iter().any(|&(at, byte)| bytes[at] != byte)
            || !matches!(bytes[10], b'T' | b't' | b' ')
        {
            return None;
        }
        let (year, month, day) = (number(0, 4)?, number(5, 7)?, number(8, 10)?);
        let (hour, minute, second) = (number(11, 13)?, number(14, 16)?, number(17, 19)?);
        if !(1..=12).contains(&month)
            || !(1..=31).contains(&day)
            || !(0..24).contains(&hour)
            || !(0..60).contains(&minute)
            || !(0..=60).contains(&second)
        {
            return None;
        }
        let mut rest = &text[19..];
        let mut millis = 0;
        if let Some(fraction) = rest.strip_prefix('.') {
            let end = fraction.find(|c: char| !c.is_ascii_digit()).unwrap_or(fraction.len());
            if end == 0 {
                return None;
            }
            for (index, digit) in fraction[..end].bytes().take(3).enumerate() {
                millis += i64::from(digit - b'0') * [100, 10, 1][index];
            }
            rest = &fraction[end..];
        }
        let offset_minutes = match rest.as_bytes() {
            b"Z" | b"z" => 0,
            [sign @ (b'+' | b'-'), h1, h2, b':', m1, m2] => {
                let digit = |byte: &u8| byte.is_ascii_digit().then(|| i64::from(byte - b'0'));
                let minutes = (digit(h1)? * 10 + digit(h2)?) * 60 + digit(m1)? * 10 + digit(m2)?;
                if *sign == b'+' { minutes } else { -minutes }
            }
            _ => return None,
        };
        let seconds =
            days_from_civil(year, month, day) * 86_400 + hour * 3_600 + minute * 60 + second
                - offset_minutes * 60;
        Some(Time(seconds * 1_000 + millis))
    }

    /// RFC 3339 in UTC, to the second.
    pub fn text(self) -> String {
        let seconds = self.0.div_euclid(1_000);
        let (days, of_day) = (seconds.div_euclid(86_400), seconds.rem_euclid(86_400));
        let (year, month, day) = civil_from_days(days);
        let (hour, minute, second) = (of_day / 3_600, of_day / 60 % 60, of_day % 60);
        format!("{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}Z")
    }

    /// Milliseconds from `earlier` to this; negative if `earlier` is later.
    pub fn since(self, earlier: Time) -> i64 {
        self.0 - earlier.0
    }
}

/// Days from 1970-01-01 in the proleptic Gregorian calendar.
fn days_from_civil(year: i64, month: i64, day: i64) -> i64 {
    let shifted = if month <= 2 { year - 1 } else { year };
    let era = shifted.div_euclid(400);
    let of_era = shifted.rem_euclid(400);
    let of_year = (153 * ((month + 9) % 12) + 2) / 5 + day - 1;
    era * 146_097 + of_era * 365 + of_era / 4 - of_era / 100 + of_year - 719_468
}

fn civil_from_days(days: i64) -> (i64, i64, i64) {
    let shifted = days + 719_468;
    let era = shifted.div_euclid(146_097);
    let of_era = shifted.rem_euclid(146_097);
    let year = (of_era - of_era / 1_460 + of_era / 36_524 - of_era / 146_096) / 365;
    let of_year = of_era - (365 * year + year / 4 - year / 100);
    let shifted_month = (5 * of_year + 2) / 153;
    let day = of_year - (153 * shifted_month + 2) / 5 + 1;
    let month = if shifted_month < 10 { shifted_month + 3 } else { shifted_month - 9 };
    let year = year + era * 400 + i64::from(month <= 2);
    (year, month, day)
}

/// Milliseconds of a duration as Go's `time.ParseDuration` reads it (`1h30m`, `500ms`, `-2s`).
pub fn duration(text: &str) -> Option<i64> {
    let (negative, mut rest) = match text.strip_prefix('-') {
        Some(rest) => (true, rest),
        None => (false, text.strip_prefix('+').unwrap_or(text)),
    };
    if rest == "0" {
        return Some(0);
    }
    if rest.is_empty() {
        return None;
    }
    let mut total = 0_f64;
    while !rest.is_empty() {
        let end = rest.find(|c: char| !c.is_ascii_digit() && c != '.')?;
        let number: f64 = rest[..end].parse().ok()?;
        rest = &rest[end..];
        let end = rest.find(|c: char| c.is_ascii_digit() || c == '.').unwrap_or(rest.len());
        let millis = match &rest[..end] {
            "ns" => 1e-6,
            "us" | "µs" => 1e-3,
            "ms" => 1.0,
            "s" => 1e3,
            "m" => 6e4,
            "h" => 3.6e6,
            _ => return None,
        };
        total += number * millis;
        rest = &rest[end..];
    }
    #[expect(clippy::cast_possible_truncation, reason = "a float cast saturates")]
    let millis = total as i64;
    Some(if negative { -millis } else { millis })
}

/// A duration in words a user reads at a glance: `45s`, `12m`, `3h20m`, `2d4h`.
pub fn readable(millis: i64) -> String {
    let seconds = millis.unsigned_abs() / 1_000;
    let sign = if millis < 0 { "-" } else { "" };
    let (days, hours, minutes) = (seconds / 86_400, seconds / 3_600 % 24, seconds / 60 % 60);
    if millis.unsigned_abs() < 1_000 {
        return format!("{millis}ms");
    }
    let text = match (days, hours, minutes) {
        (0, 0, 0) => format!("{seconds}s"),
        (0, 0, _) if seconds.is_multiple_of(60) => format!("{minutes}m"),
        (0, 0, _) => format!("{minutes}m{}s", seconds % 60),
        (0, _, 0) => format!("{hours}h"),
        (0, ..) => format!("{hours}h{minutes}m"),
        (_, 0, _) => format!("{days}d"),
        _ => format!("{days}d{hours}h"),
    };
    format!("{sign}{text}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_round_trip() {
        for text in ["1970-01-01T00:00:00Z", "2000-02-29T23:59:59Z", "2026-11-30T12:00:01Z"] {
            assert_eq!(Time::parse(text).map(Time::text).as_deref(), Some(text));
        }
        assert_eq!(Time::parse("1970-01-01T01:00:00.250+01:00"), Some(Time(250)));
        for bad in
            ["", "2026-11-30", "2026-13-01T00:00:00Z", "2026-11-30T12:00:01", "yesterday at noon!!"]
        {
            assert_eq!(Time::parse(bad), None, "{bad}");
        }
    }

    #[test]
    fn durations_are_read_as_go_reads_them() {
        assert_eq!(duration("1h30m"), Some(5_400_000));
        assert_eq!(duration("1.5s"), Some(1_500));
        assert_eq!(duration("-922.793053ms"), Some(-922));
        assert_eq!(duration("0"), Some(0));
        for bad in ["", "5", "1x", "s", "1h-3m"] {
            assert_eq!(duration(bad), None, "{bad}");
        }
    }
}
