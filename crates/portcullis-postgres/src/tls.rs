//! Encryption on the way to the server, and the proof that it is the one.

use std::path::Path;
use std::sync::Arc;

use portcullis_store::StoreError;
use rustls::crypto::ring::default_provider;
use rustls::pki_types::CertificateDer;
use rustls::pki_types::pem::PemObject as _;
use rustls::{ClientConfig, RootCertStore};
use tokio_postgres_rustls::MakeRustlsConnect;

use crate::address::{ServerAddress, ServerProof};
use crate::error::refused;

/// Makes what encrypts a connection; `None` where nothing is encrypted.
pub(crate) fn connector(address: &ServerAddress) -> Result<Option<MakeRustlsConnect>, StoreError> {
    let roots = match &address.encryption {
        None => return Ok(None),
        Some(ServerProof::Web) => RootCertStore { roots: webpki_roots::TLS_SERVER_ROOTS.to_vec() },
        Some(ServerProof::File(file)) => read_roots(&address.place, file)?,
    };
    let config = ClientConfig::builder_with_provider(Arc::new(default_provider()))
        .with_safe_default_protocol_versions()
        .map_err(|error| refused(&address.place, format!("it cannot be encrypted: {error}")))?
        .with_root_certificates(roots)
        .with_no_client_auth();
    Ok(Some(MakeRustlsConnect::new(config)))
}

fn read_roots(place: &str, file: &Path) -> Result<RootCertStore, StoreError> {
    let wrong = |what: &str| refused(place, format!("the certificates in `{}` {what}", file.display()));
    let mut roots = RootCertStore::empty();
    let certificates = CertificateDer::pem_file_iter(file).map_err(|_| wrong("cannot be read"))?;
    for certificate in certificates {
        let certificate = certificate.map_err(|_| wrong("cannot be read"))?;
        roots.add(certificate).map_err(|_| wrong("are not those of an authority"))?;
    }
    if roots.is_empty() {
        return Err(wrong("are none"));
    }
    Ok(roots)
}
