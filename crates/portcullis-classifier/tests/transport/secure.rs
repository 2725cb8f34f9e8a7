//! Whose certificates are trusted.

use std::path::PathBuf;

use portcullis_classifier::Secret;
use portcullis_classifier::transport::{
    ExchangeLimits, FaultKind, KeyPresentation, RawResponse, RetryAdvice,
};
use pretty_assertions::assert_eq;

use crate::fixture::{Act, Server, response};
use crate::secure_server::{SecureServer, file};
use crate::{SHORT, connect, send};

fn send_trusting(
    server: &SecureServer,
    ca_file: Option<PathBuf>,
) -> Result<RawResponse, (FaultKind, RetryAdvice, String)> {
    let key = Secret::parse("sk-hunter2").unwrap();
    let connection =
        connect(&server.base()).with_key(KeyPresentation::Bearer, Some(key)).with_ca_file(ca_file);
    send(&connection).map_err(|fault| (fault.kind, fault.retry, fault.message))
}

#[test]
fn a_certificate_of_an_authority_of_our_own_is_trusted_only_with_its_file() {
    let server = SecureServer::start();
    for ca_file in [None, Some(file("stranger.pem"))] {
        let (kind, retry, message) = send_trusting(&server, ca_file).unwrap_err();
        assert_eq!((kind, retry), (FaultKind::Connection, RetryAdvice::No));
        assert!(message.contains("certificate of localhost is not trusted"), "{message}");
        assert_eq!(server.requests(), Vec::<String>::new());
    }
    let answer = send_trusting(&server, Some(file("authority.pem"))).unwrap();
    assert_eq!((answer.status, answer.body.as_slice()), (200, b"{\"secure\":true}".as_slice()));
    assert!(server.requests()[0].contains("Bearer sk-hunter2"));
}

#[test]
fn a_file_may_hold_several_certificates() {
    let folder = tempfile::tempdir().unwrap();
    let bundle = folder.path().join("bundle.pem");
    let parts = ["stranger.pem", "authority.pem"].map(|name| std::fs::read_to_string(file(name)).unwrap());
    std::fs::write(&bundle, format!("# ours\n{}\n# theirs\n{}", parts[0], parts[1])).unwrap();
    assert_eq!(send_trusting(&SecureServer::start(), Some(bundle)).unwrap().status, 200);
}

#[test]
fn a_certificate_for_another_name_is_not_trusted() {
    let server = SecureServer::start();
    let base = server.base().replace("localhost", "127.0.0.1");
    let fault = send(&connect(&base).with_ca_file(Some(file("authority.pem")))).unwrap_err();
    assert_eq!((fault.kind, fault.retry), (FaultKind::Connection, RetryAdvice::No), "{}", fault.message);
    assert_eq!(server.requests(), Vec::<String>::new());
}

#[test]
fn a_file_that_cannot_be_used_is_an_error_not_a_silence() {
    let server = SecureServer::start();
    let folder = tempfile::tempdir().unwrap();
    for (content, what) in [(None, "cannot be read"), (Some("no certificate"), "holds no certificate")] {
        let path = folder.path().join("ca.pem");
        if let Some(content) = content {
            std::fs::write(&path, content).unwrap();
        }
        let (kind, retry, message) = send_trusting(&server, Some(path)).unwrap_err();
        assert_eq!((kind, retry), (FaultKind::Connection, RetryAdvice::No));
        assert!(message.contains(what), "{message}");
    }
    assert_eq!(server.requests(), Vec::<String>::new());
}

#[test]
fn a_server_that_does_not_encrypt_gets_nothing_and_answers_nothing() {
    let answer = Act::Send(response("200 OK", "{}"));
    for (script, retry) in
        [(vec![Act::Read, answer.clone()], RetryAdvice::Backoff), (vec![answer, Act::Hold], RetryAdvice::No)]
    {
        let server = Server::start(vec![script]);
        let key = Secret::parse("sk-hunter2").unwrap();
        let connection = connect(&format!("https://127.0.0.1:{}", server.port()))
            .with_key(KeyPresentation::Bearer, Some(key))
            .with_limits(ExchangeLimits { connect: SHORT, ..ExchangeLimits::default() });
        let fault = send(&connection).unwrap_err();
        assert_eq!((fault.kind, fault.retry), (FaultKind::Connection, retry), "{}", fault.message);
        assert_eq!(server.requests(), Vec::<String>::new());
    }
}

#[test]
fn a_trusted_connection_is_used_again() {
    let server = SecureServer::start();
    let connection = connect(&server.base()).with_ca_file(Some(file("authority.pem")));
    for _ in 0..3 {
        assert_eq!(send(&connection).unwrap().status, 200);
    }
    assert_eq!((server.requests().len(), server.connections()), (3, 1));
}
