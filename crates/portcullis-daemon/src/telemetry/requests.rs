//! Requests by method, route and status: a table with so many rows and no more, which is read and grown without a lock.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering};

use super::family::{Labels, Sample};

/// How many routes are told apart. Those of the router are fewer; the rest are counted together.
const MOST_ROUTES: usize = 96;

/// The methods that are told apart; the rest are counted as the last one.
const METHODS: [&str; 6] = ["GET", "POST", "PUT", "DELETE", "HEAD", "other"];

/// The statuses that are told apart; the rest are counted as the last one.
const STATUSES: [u16; 24] = [
    200, 201, 202, 204, 302, 303, 304, 307, 400, 401, 403, 404, 405, 408, 409, 413, 415, 421, 422, 429, 500,
    503, 504, 0,
];

/// The route of a request that no route was found for.
const UNMATCHED: &str = "unmatched";

/// The requests that were answered.
#[derive(Debug)]
pub(super) struct Requests {
    rows: Box<[Row]>,
    others: Counts,
}

#[derive(Debug, Default)]
struct Row {
    key: OnceLock<(&'static str, Box<str>)>,
    counts: Counts,
}

#[derive(Debug)]
struct Counts([AtomicU64; STATUSES.len()]);

impl Default for Counts {
    fn default() -> Self {
        Self([const { AtomicU64::new(0) }; STATUSES.len()])
    }
}

impl Requests {
    pub(super) fn new() -> Self {
        Self { rows: (0..MOST_ROUTES).map(|_| Row::default()).collect(), others: Counts::default() }
    }

    /// Counts an answered request. The route is the template of the router, never what the client wrote.
    pub(super) fn add(&self, method: &str, route: Option<&str>, status: u16) {
        let method = METHODS.iter().find(|known| **known == method).copied().unwrap_or("other");
        let counts = self.find(method, route.unwrap_or(UNMATCHED)).unwrap_or(&self.others);
        let at = STATUSES.iter().position(|known| *known == status).unwrap_or(STATUSES.len() - 1);
        if let Some(count) = counts.0.get(at) {
            count.fetch_add(1, Ordering::Relaxed);
        }
    }

    /// Finds the row of a route, or takes the next free one.
    fn find(&self, method: &'static str, route: &str) -> Option<&Counts> {
        let row = self.rows.iter().find(|row| {
            let key = row.key.get_or_init(|| (method, route.into()));
            key.0 == method && *key.1 == *route
        })?;
        Some(&row.counts)
    }

    /// Returns the counts that are not zero.
    pub(super) fn samples(&self) -> Vec<Sample> {
        let rows = self.rows.iter().filter_map(|row| {
            let (method, route) = row.key.get()?;
            Some((*method, &**route, &row.counts))
        });
        let all = rows.chain([("other", "other", &self.others)]);
        all.flat_map(|(method, route, counts)| {
            counts.told().map(move |(status, count)| Sample::count(labels(method, route, status), count))
        })
        .collect()
    }
}

impl Counts {
    fn told(&self) -> impl Iterator<Item = (u16, u64)> {
        let counts = self.0.iter().map(|count| count.load(Ordering::Relaxed));
        STATUSES.into_iter().zip(counts).filter(|(_, count)| *count > 0)
    }
}

fn labels(method: &str, route: &str, status: u16) -> Labels {
    let status = if status == 0 { "other".to_owned() } else { status.to_string() };
    vec![("method", method.to_owned()), ("route", route.to_owned()), ("status", status)]
}

#[cfg(test)]
mod tests {
    use pretty_assertions::assert_eq;

    use super::super::family::Value;
    use super::*;

    fn counted(requests: &Requests) -> Vec<(String, u64)> {
        let samples = requests.samples().into_iter();
        samples
            .map(|sample| {
                let labels: Vec<String> = sample.labels.into_iter().map(|(_, value)| value).collect();
                let Value::Count(count) = sample.value else { panic!("a count") };
                (labels.join(" "), count)
            })
            .collect()
    }

    #[test]
    fn requests_are_told_apart_by_method_route_and_status() {
        let requests = Requests::new();
        requests.add("GET", Some("/a/{id}"), 200);
        requests.add("GET", Some("/a/{id}"), 200);
        requests.add("POST", Some("/a/{id}"), 200);
        requests.add("GET", Some("/a/{id}"), 777);
        requests.add("BREW", None, 404);
        let expected = [
            ("GET /a/{id} 200", 2),
            ("GET /a/{id} other", 1),
            ("POST /a/{id} 200", 1),
            ("other unmatched 404", 1),
        ];
        assert_eq!(counted(&requests), expected.map(|(labels, count)| (labels.to_owned(), count)));
    }

    #[test]
    fn there_are_no_more_rows_than_there_is_room_for() {
        let requests = Requests::new();
        for number in 0..10_000 {
            requests.add("GET", Some(&format!("/{number}")), 200);
        }
        let counted = counted(&requests);
        assert_eq!(counted.len(), MOST_ROUTES + 1);
        assert_eq!(counted.last().unwrap(), &("other other 200".to_owned(), 10_000 - MOST_ROUTES as u64));
    }
}
