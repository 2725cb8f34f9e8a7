//! Certificates a company signs with itself, beside those everybody trusts.

use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

use ureq::tls::{Certificate, PemItem, RootCerts, parse_pem};

use super::failure::shorten;
use super::{FaultKind, ModelFault, RetryAdvice};

/// The most a file of certificates may hold; the largest bundles in use are a quarter of it.
const LONGEST: u64 = 4 * 1024 * 1024;

/// Reads a PEM file with one or more certificates.
pub(super) fn read_roots(path: &Path) -> Result<RootCerts, ModelFault> {
    let complain = |what: String| {
        let place = shorten(&path.to_string_lossy());
        ModelFault::new(
            FaultKind::Connection,
            format!("the certificate file {place} {what}"),
            RetryAdvice::No,
        )
    };
    let text = read(path).map_err(|error| complain(format!("cannot be read: {}", error.kind())))?;
    if u64::try_from(text.len()).unwrap_or(u64::MAX) > LONGEST {
        return Err(complain("is larger than 4 MB, name a smaller one".to_owned()));
    }
    let roots = parse(&text).map_err(complain)?;
    Ok(RootCerts::from(roots))
}

fn read(path: &Path) -> io::Result<Vec<u8>> {
    let mut text = Vec::new();
    File::open(path)?.take(LONGEST + 1).read_to_end(&mut text)?;
    Ok(text)
}

fn parse(text: &[u8]) -> Result<Vec<Certificate<'static>>, String> {
    let mut roots = Vec::new();
    for item in parse_pem(text) {
        match item {
            Ok(PemItem::Certificate(certificate)) => roots.push(certificate),
            Ok(_) => {}
            Err(_) => return Err("is not well-formed PEM".to_owned()),
        }
    }
    if roots.is_empty() {
        return Err("holds no certificate, it must be PEM with BEGIN CERTIFICATE".to_owned());
    }
    Ok(roots)
}

#[cfg(test)]
mod tests {
    use pretty_assertions::assert_eq;

    use super::*;

    fn complaint(content: &[u8]) -> String {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("ca.pem");
        std::fs::write(&path, content).unwrap();
        let fault = read_roots(&path).expect_err("no usable certificate");
        assert_eq!((fault.kind, fault.retry), (FaultKind::Connection, RetryAdvice::No));
        fault.message
    }

    #[test]
    fn a_file_without_certificates_is_an_error_that_says_so() {
        assert!(complaint(b"").contains("holds no certificate"));
        assert!(complaint(b"hello\n").contains("holds no certificate"));
        assert!(complaint(&[0xff, 0, 0xfe]).contains("holds no certificate"));
        let broken = b"-----BEGIN CERTIFICATE-----\n%%%%\n-----END CERTIFICATE-----\n";
        assert!(complaint(broken).contains("not well-formed PEM"));
    }

    #[test]
    fn a_file_that_is_not_there_is_named() {
        let folder = tempfile::tempdir().unwrap();
        let fault = read_roots(&folder.path().join("absent.pem")).unwrap_err();
        assert!(fault.message.contains("absent.pem cannot be read"), "{}", fault.message);
    }
}
