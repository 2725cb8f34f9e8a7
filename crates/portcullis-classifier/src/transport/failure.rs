//! What the HTTP client's errors mean to us: the kind of failure, and whether to try again.

use std::io;

use portcullis_core::visible;

use super::{FaultKind, ModelFault, RetryAdvice};

const LONGEST_MESSAGE: usize = 200;

/// Why one exchange came to nothing.
#[derive(Debug)]
pub(super) enum ExchangeFailure {
    /// The other side's certificate is signed by nobody we trusted this time.
    Untrusted(ModelFault),
    /// Anything else.
    Other(ModelFault),
}

impl ExchangeFailure {
    pub(super) fn into_fault(self) -> ModelFault {
        match self {
            ExchangeFailure::Untrusted(fault) | ExchangeFailure::Other(fault) => fault,
        }
    }
}

/// Translates an error of the client in an exchange with a host.
pub(super) fn translate(error: ureq::Error, host: &str) -> ExchangeFailure {
    use ureq::Error as E;
    let fault = match error {
        E::Timeout(ureq::Timeout::Connect | ureq::Timeout::Resolve) => {
            connection(&format!("no connection to {host} in time"), RetryAdvice::Backoff)
        }
        E::Timeout(_) => timeout(host),
        E::Io(error) if error.kind() == io::ErrorKind::InvalidData => return insecure(&error, host),
        E::Io(error) => {
            connection(&format!("the connection to {host} failed: {}", words(&error)), RetryAdvice::Backoff)
        }
        E::Tls(_) | E::TlsRequired | E::Rustls(_) | E::Pem(_) => {
            connection(&format!("no secure connection to {host}: {error}"), RetryAdvice::No)
        }
        E::HostNotFound => connection(&format!("the host {host} was not found"), RetryAdvice::Backoff),
        E::ConnectionFailed => connection(&format!("the connection to {host} failed"), RetryAdvice::Backoff),
        E::ConnectProxyFailed(reason) => {
            connection(&format!("the proxy does not connect to {host}: {reason}"), RetryAdvice::Backoff)
        }
        E::InvalidProxyUrl => connection("the address of the proxy cannot be used", RetryAdvice::No),
        E::Protocol(_) | E::BodyStalled | E::LargeResponseHeader(..) => {
            malformed(&format!("{host} answers something that is not HTTP: {error}"))
        }
        E::BodyExceedsLimit(_) => malformed(&format!("the answer of {host} is too large")),
        E::RedirectFailed | E::TooManyRedirects => malformed(&format!("{host} answers with a redirect")),
        E::Http(_) | E::BadUri(_) | E::RequireHttpsOnly(_) => {
            refused(&format!("the request cannot be sent to {host}: {error}"))
        }
        other => connection(&format!("the request to {host} failed: {other}"), RetryAdvice::No),
    };
    ExchangeFailure::Other(fault)
}

/// A failure of TLS. The client hands it on as data that is not valid.
fn insecure(error: &io::Error, host: &str) -> ExchangeFailure {
    let text = error.to_string();
    if text.starts_with("invalid peer certificate") {
        let what =
            format!("the certificate of {host} is not trusted ({text}), name its authority as the CA file");
        return ExchangeFailure::Untrusted(connection(&what, RetryAdvice::No));
    }
    ExchangeFailure::Other(connection(&format!("no secure connection to {host}: {text}"), RetryAdvice::No))
}

pub(super) fn timeout(host: &str) -> ModelFault {
    let message = shorten(&format!("no answer from {host} before the deadline"));
    ModelFault::new(FaultKind::Timeout, message, RetryAdvice::No)
}

pub(super) fn aborted() -> ModelFault {
    ModelFault::new(FaultKind::Aborted, "the request was given up by the caller", RetryAdvice::No)
}

pub(super) fn connection(message: &str, retry: RetryAdvice) -> ModelFault {
    ModelFault::new(FaultKind::Connection, shorten(message), retry)
}

pub(super) fn malformed(message: &str) -> ModelFault {
    ModelFault::new(FaultKind::Malformed, shorten(message), RetryAdvice::No)
}

pub(super) fn refused(message: &str) -> ModelFault {
    ModelFault::new(FaultKind::BadRequest, shorten(message), RetryAdvice::No)
}

/// Says what an I/O error is: its kind where the system has a word for it, else its text.
fn words(error: &io::Error) -> String {
    match error.kind() {
        io::ErrorKind::UnexpectedEof => "it was closed before the answer was complete".to_owned(),
        kind if error.raw_os_error().is_some() => kind.to_string(),
        _ => error.to_string(),
    }
}

/// Makes a text fit for a message: nothing hidden, at most 200 characters.
pub(crate) fn shorten(text: &str) -> String {
    let head: String = text.chars().take(LONGEST_MESSAGE).collect();
    visible(&head).chars().take(LONGEST_MESSAGE).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_message_is_short_and_hides_nothing() {
        let message = shorten(&format!("a\u{1b}[2J\u{202e}{}", "x".repeat(10_000)));
        assert!(message.starts_with("a\\u{1b}[2J\\u{202e}x"), "{message}");
        assert_eq!(message.chars().count(), LONGEST_MESSAGE);
    }

    #[test]
    fn a_late_connection_may_be_tried_again_but_a_late_answer_may_not() {
        for (late, kind, retry) in [
            (ureq::Timeout::Connect, FaultKind::Connection, RetryAdvice::Backoff),
            (ureq::Timeout::Resolve, FaultKind::Connection, RetryAdvice::Backoff),
            (ureq::Timeout::Global, FaultKind::Timeout, RetryAdvice::No),
            (ureq::Timeout::RecvBody, FaultKind::Timeout, RetryAdvice::No),
        ] {
            let fault = translate(ureq::Error::Timeout(late), "a.example").into_fault();
            assert_eq!((fault.kind, fault.retry), (kind, retry), "{late:?}");
        }
    }

    #[test]
    fn only_a_certificate_nobody_signed_is_called_untrusted() {
        let broken =
            |text: &str| ureq::Error::Io(io::Error::new(io::ErrorKind::InvalidData, text.to_owned()));
        let unknown = translate(broken("invalid peer certificate: UnknownIssuer"), "a.example");
        assert!(matches!(unknown, ExchangeFailure::Untrusted(_)), "{unknown:?}");
        let other = translate(broken("received corrupt message"), "a.example");
        assert!(
            matches!(&other, ExchangeFailure::Other(fault) if fault.retry == RetryAdvice::No),
            "{other:?}"
        );
    }
}
