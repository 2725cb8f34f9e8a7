//! Encryption: a certificate chain and its key, from PEM files.

use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use rustls::ServerConfig;
use rustls::pki_types::pem::PemObject as _;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use tokio_rustls::TlsAcceptor;

use portcullis_gate::Failure;

/// The files with the certificate chain and its key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TlsFiles {
    /// The chain, the daemon's own certificate first.
    pub certificate: PathBuf,
    /// The key of the first certificate.
    pub key: PathBuf,
}

/// Reads the files and makes what encrypts connections.
pub(super) fn acceptor(files: &TlsFiles) -> Result<TlsAcceptor, Failure> {
    let chain = read_chain(&files.certificate)?;
    refuse_shared_key(&files.key)?;
    let key = PrivateKeyDer::from_pem_file(&files.key).map_err(|error| {
        Failure::usage(format!("`{}` has no private key that can be used: {error}", files.key.display()))
            .with_hint("--tls-key takes a PEM file with an unencrypted PKCS#8, PKCS#1 or SEC1 key")
    })?;
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let mut config = ServerConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .map_err(|error| Failure::internal(format!("encryption cannot be set up: {error}")))?
        .with_no_client_auth()
        .with_single_cert(chain, key)
        .map_err(|error| {
            let (key, certificate) = (files.key.display(), files.certificate.display());
            Failure::usage(format!(
                "the key `{key}` and the certificate `{certificate}` cannot be used: {error}"
            ))
            .with_hint("the key must belong to the first certificate of the chain")
        })?;
    config.alpn_protocols = vec![b"http/1.1".to_vec()];
    Ok(TlsAcceptor::from(Arc::new(config)))
}

/// Refuses a key that other users can read: whoever has it can pass for this daemon.
fn refuse_shared_key(path: &Path) -> Result<(), Failure> {
    let mode = std::fs::metadata(path).map_or(0, |seen| seen.permissions().mode() & 0o777);
    let shown = path.display();
    if mode & 0o077 != 0 {
        return Err(Failure::usage(format!(
            "others can use the key `{shown}` (mode {mode:o}), so it is not used"
        ))
        .with_hint(format!("run `chmod 600 {shown}`, and make a new key if somebody may have read it")));
    }
    Ok(())
}

fn read_chain(path: &Path) -> Result<Vec<CertificateDer<'static>>, Failure> {
    let unusable = |why: &str| {
        Failure::usage(format!("`{}` has no certificate that can be used: {why}", path.display()))
            .with_hint("--tls-cert takes a PEM file with the certificate first and those above it next")
    };
    let certificates = CertificateDer::pem_file_iter(path).map_err(|error| unusable(&error.to_string()))?;
    let chain: Vec<_> =
        certificates.collect::<Result<_, _>>().map_err(|error| unusable(&error.to_string()))?;
    if chain.is_empty() {
        return Err(unusable("there is none in it"));
    }
    Ok(chain)
}
