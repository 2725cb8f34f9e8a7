//! What every store must do.

use portcullis_store::conformance::CHECKS;
use portcullis_testkit::PostgresServer;
use pretty_assertions::assert_eq;

use crate::sample::{database, store};

#[test]
fn a_fleet_does_what_every_store_must_do() {
    let mut failures = Vec::new();
    for check in CHECKS {
        // Over the socket, where no password makes every connection slow.
        let url = PostgresServer::shared().socket_url(&database().0);
        let outcome = std::panic::catch_unwind(|| {
            let open = || store(&url).1;
            (check.run)(&open).map_err(|error| error.to_string())
        });
        failures.extend(match outcome {
            Ok(Ok(())) => None,
            Ok(Err(error)) => Some(format!("{}: {error}", check.name)),
            Err(_) => Some(check.name.to_owned()),
        });
    }
    assert_eq!(failures, Vec::<String>::new());
}
