//! Where the store is: the URL, taken apart, without ever showing its password.
//!
//! `postgres://user:password@host:5432/database`, or a unix socket as `postgres://user@/database?host=/run/postgresql`.
//! Beside what the library knows, `sslmode` and `sslrootcert` are read here.
//!
//! INVARIANT: what leaves the machine is encrypted, and the server proves who it is, unless the URL itself says
//! `sslmode=disable`.

use std::fmt;
use std::net::IpAddr;
use std::path::PathBuf;
use std::str::FromStr as _;

use portcullis_store::StoreError;
use tokio_postgres::Config;
use tokio_postgres::config::{Host, SslMode};

use crate::error::refused;

/// How a store is called whose URL cannot be read, and so must not be shown.
const NAMELESS: &str = "store.url";

/// Where the store is.
pub(crate) struct ServerAddress {
    /// What the library connects with.
    pub(crate) config: Config,
    /// How it is encrypted; `None` if it is not.
    pub(crate) encryption: Option<ServerProof>,
    /// What it is called, without anything secret.
    pub(crate) place: String,
}

/// How the server proves who it is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum ServerProof {
    /// By an authority that the web trusts.
    Web,
    /// By an authority in this file.
    File(PathBuf),
}

impl fmt::Debug for ServerAddress {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("ServerAddress").field("place", &self.place).finish_non_exhaustive()
    }
}

impl ServerAddress {
    /// Reads a URL; `password` counts if the URL has none.
    pub(crate) fn read(url: &str, password: Option<&str>) -> Result<Self, StoreError> {
        let (rest, wishes) = TlsOptions::split(url)?;
        let wrong = |_| refused(NAMELESS, "it is no URL like postgres://user@host:5432/database");
        let mut config = Config::from_str(&rest).map_err(wrong)?;
        if config.get_password().is_none()
            && let Some(password) = password
        {
            config.password(password);
        }
        if config.get_hosts().is_empty() && config.get_hostaddrs().is_empty() {
            return Err(refused(NAMELESS, "the URL names no host"));
        }
        let place = place(&config);
        let encryption = wishes.encryption(&config, &place)?;
        let mode = if encryption.is_some() { SslMode::Require } else { SslMode::Disable };
        config.ssl_mode(mode).application_name("portcullis");
        Ok(Self { config, encryption, place })
    }
}

/// What a URL says of encryption.
#[derive(Debug, Default)]
struct TlsOptions {
    mode: Option<String>,
    authority: Option<PathBuf>,
}

impl TlsOptions {
    /// Takes what is ours out of a URL.
    fn split(url: &str) -> Result<(String, Self), StoreError> {
        if !(url.starts_with("postgres://") || url.starts_with("postgresql://")) {
            return Err(refused(NAMELESS, "the URL does not begin with postgres://"));
        }
        let mut wishes = Self::default();
        // A password may have a question mark in it.
        let host = url.find('@').unwrap_or(0);
        let query = url.get(host..).and_then(|rest| rest.find('?')).map(|place| host + place);
        let Some((front, query)) = query.and_then(|place| url.split_at_checked(place)) else {
            return Ok((url.to_owned(), wishes));
        };
        let query = query.trim_start_matches('?');
        let mut kept = Vec::new();
        for parameter in query.split('&').filter(|parameter| !parameter.is_empty()) {
            match parameter.split_once('=') {
                Some(("sslmode", value)) => wishes.mode = Some(value.to_owned()),
                Some(("sslrootcert", value)) => wishes.authority = Some(PathBuf::from(decoded(value))),
                _ => kept.push(parameter),
            }
        }
        let rest = if kept.is_empty() { front.to_owned() } else { format!("{front}?{}", kept.join("&")) };
        Ok((rest, wishes))
    }

    /// Decides how to encrypt. Every mode that encrypts also checks whom it talks to.
    fn encryption(self, config: &Config, place: &str) -> Result<Option<ServerProof>, StoreError> {
        let checked = match self.authority {
            Some(file) => ServerProof::File(file),
            None => ServerProof::Web,
        };
        match self.mode.as_deref() {
            Some("disable") => Ok(None),
            Some("require" | "verify-ca" | "verify-full") => Ok(Some(checked)),
            None if checked == ServerProof::Web && stays_here(config) => Ok(None),
            None => Ok(Some(checked)),
            // With these, whoever stands in between can take the encryption away.
            Some("prefer" | "allow") => Err(refused(
                place,
                "sslmode must be `verify-full` or `disable`: others can be talked out of it",
            )),
            Some(_) => Err(refused(place, "sslmode must be `verify-full` or `disable`")),
        }
    }
}

/// Says whether nothing leaves the machine.
fn stays_here(config: &Config) -> bool {
    let is_local = |host: &Host| match host {
        Host::Tcp(name) => {
            name == "localhost" || name.parse::<IpAddr>().is_ok_and(|address| address.is_loopback())
        }
        #[cfg(unix)]
        Host::Unix(_) => true,
    };
    config.get_hosts().iter().all(is_local) && config.get_hostaddrs().iter().all(IpAddr::is_loopback)
}

/// Names the server and the database.
fn place(config: &Config) -> String {
    let name = |host: &Host| match host {
        Host::Tcp(name) => name.clone(),
        #[cfg(unix)]
        Host::Unix(directory) => directory.display().to_string(),
    };
    let mut hosts: Vec<String> = config.get_hosts().iter().map(name).collect();
    if hosts.is_empty() {
        hosts = config.get_hostaddrs().iter().map(ToString::to_string).collect();
    }
    let ports = config.get_ports();
    let port = |place: usize| ports.get(place).or(ports.first()).copied().unwrap_or(5432);
    let hosts: Vec<String> =
        hosts.iter().enumerate().map(|(place, host)| format!("{host}:{}", port(place))).collect();
    let database = config.get_dbname().or(config.get_user()).unwrap_or_default();
    format!("postgres://{}/{database}", hosts.join(","))
}

/// Undoes percent-encoding.
fn decoded(text: &str) -> String {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let Some((first, after)) = rest.split_first() {
        let code = after.split_at_checked(2).filter(|_| *first == b'%').and_then(|(digits, after)| {
            let digits = std::str::from_utf8(digits).ok()?;
            Some((u8::from_str_radix(digits, 16).ok()?, after))
        });
        let (byte, after) = code.unwrap_or((*first, after));
        bytes.push(byte);
        rest = after;
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

#[cfg(test)]
mod tests {
    use pretty_assertions::assert_eq;

    use super::*;

    fn read(url: &str) -> ServerAddress {
        ServerAddress::read(url, None).unwrap()
    }

    #[test]
    fn what_leaves_the_machine_is_encrypted_unless_the_url_says_otherwise() {
        let file = ServerProof::File(PathBuf::from("/etc/a b.pem"));
        let cases = [
            ("postgres://a@127.0.0.1/d", None),
            ("postgres://a@[::1]:5433/d", None),
            ("postgres://a@localhost/d", None),
            ("postgres://a@/d?host=/run/postgresql", None),
            ("postgres://a@localhost,db.test/d", Some(ServerProof::Web)),
            ("postgres://a@db.test/d", Some(ServerProof::Web)),
            ("postgresql://a@db.test/d?sslmode=require", Some(ServerProof::Web)),
            ("postgres://a@db.test/d?sslmode=disable", None),
            ("postgres://a@localhost/d?sslmode=verify-full", Some(ServerProof::Web)),
            ("postgres://a@localhost/d?sslrootcert=/etc/a%20b.pem", Some(file.clone())),
            (
                "postgres://a@db.test/d?sslmode=verify-ca&sslrootcert=/etc/a%20b.pem&connect_timeout=3",
                Some(file),
            ),
        ];
        for (url, encryption) in cases {
            assert_eq!(read(url).encryption, encryption, "{url}");
        }
        for url in ["postgres://a@db.test/d?sslmode=prefer", "postgres://a@db.test/d?sslmode=of_course"] {
            assert!(ServerAddress::read(url, None).is_err(), "{url}");
        }
    }

    #[test]
    fn a_password_is_taken_and_never_shown() {
        let address = read("postgres://me:s3cr%65t@db.test:6000/fleet");
        assert_eq!(address.config.get_password(), Some("s3cret".as_bytes()));
        assert_eq!(address.place, "postgres://db.test:6000/fleet");
        assert!(!format!("{address:?}").contains("s3cr"));
        let odd = read("postgres://me:p?sslmode=disable&s3cret@db.test/fleet");
        assert_eq!(odd.config.get_password(), Some("p?sslmode=disable&s3cret".as_bytes()));
        assert_eq!(odd.encryption, Some(ServerProof::Web));
        let given = ServerAddress::read("postgres://me@db.test/fleet", Some("s3cret")).unwrap();
        assert_eq!(given.config.get_password(), Some("s3cret".as_bytes()));
        let own = ServerAddress::read("postgres://me:own@db.test/fleet", Some("s3cret")).unwrap();
        assert_eq!(own.config.get_password(), Some("own".as_bytes()));
    }

    #[test]
    fn a_url_that_cannot_be_read_is_not_shown() {
        for url in [
            "s3cret",
            "mysql://me:s3cret@h/d",
            "postgres://me:s3cret@h:port/d",
            "postgres://me:s3cret@h/d?s3cret",
            "postgres://me:s3cret@h/d?unknown=s3cret",
            "postgres:///d?s3cret=1",
            "postgres://",
        ] {
            let message = ServerAddress::read(url, None).unwrap_err().to_string();
            assert!(!message.contains("s3cret"), "{message}");
            assert!(message.starts_with("the store at `store.url` refused: "), "{message}");
        }
    }
}
