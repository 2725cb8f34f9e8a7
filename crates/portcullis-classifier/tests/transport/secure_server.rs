//! A server with a certificate of our own making, and a proxy that tunnels to it.
//!
//! The certificates were made once with `openssl` and last a hundred years: `authority.pem` signed `server.pem` (for
//! `model.test` and `localhost`), `stranger.pem` signed nothing.

use std::io::{Read, Write};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;

use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::{ServerConfig, ServerConnection, StreamOwned};

use crate::fixture::{read_request, response};

/// Returns the path of a certificate.
pub(crate) fn file(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/transport/certificates").join(name)
}

/// A server that answers every request over TLS with the same words.
pub(crate) struct SecureServer {
    address: SocketAddr,
    requests: Arc<Mutex<Vec<String>>>,
    connections: Arc<Mutex<usize>>,
}

impl SecureServer {
    pub(crate) fn start() -> SecureServer {
        let chain = vec![CertificateDer::from_pem_file(file("server.pem")).expect("a certificate")];
        let key = PrivateKeyDer::from_pem_file(file("server.key.pem")).expect("a key");
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let config = ServerConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .expect("versions")
            .with_no_client_auth()
            .with_single_cert(chain, key)
            .expect("a certificate with its key");
        let config = Arc::new(config);
        let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
        let address = listener.local_addr().expect("an address");
        let (requests, connections) = (Arc::new(Mutex::new(Vec::new())), Arc::new(Mutex::new(0)));
        let (kept, counted) = (Arc::clone(&requests), Arc::clone(&connections));
        thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                *counted.lock().unwrap() += 1;
                let (config, kept) = (Arc::clone(&config), Arc::clone(&kept));
                thread::spawn(move || serve(stream, config, &kept));
            }
        });
        SecureServer { address, requests, connections }
    }

    pub(crate) fn address(&self) -> SocketAddr {
        self.address
    }

    pub(crate) fn base(&self) -> String {
        format!("https://localhost:{}", self.address.port())
    }

    pub(crate) fn requests(&self) -> Vec<String> {
        self.requests.lock().unwrap().clone()
    }

    pub(crate) fn connections(&self) -> usize {
        *self.connections.lock().unwrap()
    }
}

fn serve(stream: TcpStream, config: Arc<ServerConfig>, kept: &Mutex<Vec<String>>) {
    stream.set_read_timeout(Some(Duration::from_mins(1))).unwrap();
    let connection = ServerConnection::new(config).expect("a TLS connection");
    let mut stream = StreamOwned::new(connection, stream);
    while let Some(request) = read_request(&mut stream) {
        kept.lock().unwrap().push(request);
        if stream.write_all(&response("200 OK", "{\"secure\":true}")).is_err() || stream.flush().is_err() {
            return;
        }
    }
}

/// A proxy that takes every `CONNECT` to the same server and keeps what it carries there.
pub(crate) struct Tunnel {
    address: SocketAddr,
    requests: Arc<Mutex<Vec<String>>>,
    carried: Arc<Mutex<Vec<u8>>>,
}

impl Tunnel {
    pub(crate) fn to(aim: SocketAddr) -> Tunnel {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
        let address = listener.local_addr().expect("an address");
        let (requests, carried) = (Arc::new(Mutex::new(Vec::new())), Arc::new(Mutex::new(Vec::new())));
        let (asked, copied) = (Arc::clone(&requests), Arc::clone(&carried));
        thread::spawn(move || {
            for client in listener.incoming().flatten() {
                let (asked, copied) = (Arc::clone(&asked), Arc::clone(&copied));
                thread::spawn(move || carry(client, aim, &asked, &copied));
            }
        });
        Tunnel { address, requests, carried }
    }

    pub(crate) fn base(&self) -> String {
        format!("http://{}", self.address)
    }

    pub(crate) fn requests(&self) -> Vec<String> {
        self.requests.lock().unwrap().clone()
    }

    pub(crate) fn carried(&self) -> Vec<u8> {
        self.carried.lock().unwrap().clone()
    }
}

fn carry(mut client: TcpStream, aim: SocketAddr, asked: &Mutex<Vec<String>>, copied: &Mutex<Vec<u8>>) {
    client.set_read_timeout(Some(Duration::from_mins(1))).unwrap();
    let Some(request) = read_request(&mut client) else {
        return;
    };
    asked.lock().unwrap().push(request);
    client.write_all(b"HTTP/1.1 200 Connection established\r\n\r\n").unwrap();
    let mut server = TcpStream::connect(aim).expect("the server is there");
    let (mut back, mut forth) = (server.try_clone().unwrap(), client.try_clone().unwrap());
    let returning = thread::spawn(move || {
        let _ = std::io::copy(&mut back, &mut forth);
        let _ = forth.shutdown(Shutdown::Both);
    });
    let mut buffer = [0; 4096];
    while let Ok(length @ 1..) = client.read(&mut buffer) {
        copied.lock().unwrap().extend_from_slice(&buffer[..length]);
        if server.write_all(&buffer[..length]).is_err() {
            break;
        }
    }
    let _ = server.shutdown(Shutdown::Both);
    let _ = returning.join();
}
