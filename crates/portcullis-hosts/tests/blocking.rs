//! The answer that is prepared before anything can fail is the one a failure gives: for every host and every moment.
#![cfg(test)]

use portcullis_hosts::{Host, HostReply};
use pretty_assertions::assert_eq;

/// What the prepared answers say happened.
const WHAT: &str = "the permission check failed or ran out of time";

#[test]
fn the_prepared_answer_is_the_one_a_failure_gives() {
    for host in Host::ALL {
        let adapter = host.adapter();
        for moment in adapter.moments() {
            let prepared = HostReply {
                stdout: moment.blocking.stdout.to_owned(),
                stderr: moment.blocking.stderr.to_owned(),
                exit_code: moment.blocking.exit_code,
            };
            assert_eq!(adapter.fail(moment, WHAT), prepared, "{} {}", host.name(), moment.event);
        }
    }
}

#[test]
fn a_prepared_answer_never_looks_like_consent() {
    for host in Host::ALL {
        for moment in host.adapter().moments() {
            let name = format!("{} {}", host.name(), moment.event);
            assert_ne!(moment.blocking.exit_code, 0, "{name}");
            assert!(moment.blocking.stderr.ends_with("; blocked to be safe\n"), "{name}");
            assert!(!moment.blocking.stdout.contains("allow"), "{name}");
            let stdout = moment.blocking.stdout;
            assert!(stdout.is_empty() || serde_json::from_str::<serde_json::Value>(stdout).is_ok(), "{name}");
        }
    }
}

#[test]
fn the_moments_of_a_host_can_be_told_apart() {
    for host in Host::ALL {
        let moments: Vec<_> = host.adapter().moments().collect();
        for (index, moment) in moments.iter().enumerate() {
            assert!(!moments[index + 1..].contains(moment), "{} {}", host.name(), moment.event);
        }
    }
}
