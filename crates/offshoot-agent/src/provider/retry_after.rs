//! The wait that a server asks for. Knows headers' texts, no client.

use offshoot_session::clock::Millis;

/// In milliseconds, from `retry-after-ms`, else `retry-after` (seconds, or a date, compared with `now`).
pub(super) fn milliseconds<'a>(header: impl Fn(&str) -> Option<&'a str>, now: Millis) -> Option<u64> {
    let number = |name: &str| header(name).and_then(|text| text.trim().parse::<f64>().ok());
    let round = |ms: f64| (ms.is_finite() && ms >= 0.0).then(|| ms.ceil() as u64);
    if let Some(ms) = number("retry-after-ms").and_then(round) {
        return Some(ms);
    }
    if let Some(seconds) = number("retry-after") {
        return round(seconds * 1000.0);
    }
    let date = jiff::fmt::rfc2822::parse(header("retry-after")?.trim()).ok()?;
    let wait = date.timestamp().as_millisecond().saturating_sub(now);
    Some(u64::try_from(wait).unwrap_or(0))
}

/// Google's wait in the body: `"retryDelay": "34.5s"`.
pub(super) fn in_body(body: &str) -> Option<u64> {
    let (_, rest) = body.split_once("\"retryDelay\"")?;
    let seconds = rest.trim_start_matches([':', ' ', '"']).split_once('s')?.0.parse::<f64>().ok()?;
    (seconds.is_finite() && seconds >= 0.0).then(|| (seconds * 1000.0).ceil() as u64)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn wait(headers: &[(&str, &'static str)]) -> Option<u64> {
        // 1994-11-06T08:49:37Z
        let now = 784_111_777_000;
        milliseconds(|name| headers.iter().find(|(known, _)| *known == name).map(|(_, value)| *value), now)
    }

    #[test]
    fn seconds_dates_and_milliseconds_are_known() {
        assert_eq!(wait(&[("retry-after", "20")]), Some(20_000));
        assert_eq!(wait(&[("retry-after", "0.5")]), Some(500));
        assert_eq!(wait(&[("retry-after", "20"), ("retry-after-ms", "1500.2")]), Some(1501));
        assert_eq!(wait(&[("retry-after", "Sun, 06 Nov 1994 08:50:07 GMT")]), Some(30_000));
        assert_eq!(wait(&[("retry-after", "Sun, 06 Nov 1994 08:40:00 GMT")]), Some(0));
        assert_eq!(wait(&[("retry-after", "soon")]), None);
        assert_eq!(wait(&[("retry-after", "-1")]), None);
        assert_eq!(wait(&[]), None);
        assert_eq!(in_body("{\"details\": [{\"retryDelay\": \"34.07s\"}]}"), Some(34_070));
        assert_eq!(in_body("{\"retryDelay\": 7}"), None);
    }
}
