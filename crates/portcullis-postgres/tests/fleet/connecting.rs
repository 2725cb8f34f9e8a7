//! The way to the server: refused, hung, encrypted, impersonated, and back again.

use std::fs;
use std::net::TcpListener;
use std::os::unix::fs::{PermissionsExt as _, chown};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use portcullis_postgres::{PostgresOptions, PostgresStore};
use portcullis_store::audit::index::Filter;
use portcullis_store::{DocumentChange, DocumentKey, StoreBackend as _, StoreError};
use portcullis_testkit::PostgresServer;
use pretty_assertions::assert_eq;

use crate::sample::{connect, database, entries, options, run_sql};

/// Certificates of an authority, of a server `localhost` that it knows, and of a stranger.
fn certificate(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../portcullis-classifier/tests/transport/certificates")
        .join(name)
        .canonicalize()
        .unwrap()
}

fn hasty() -> PostgresOptions {
    let short = Duration::from_secs(1);
    PostgresOptions {
        connections: 2,
        patience: short,
        connect: short,
        statement: short,
        ..PostgresOptions::default()
    }
}

#[test]
fn a_server_that_is_not_there_is_an_error_at_once() {
    let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    let url = format!("postgres://me:s3cret@127.0.0.1:{port}/fleet");
    let started = Instant::now();
    let error = PostgresStore::connect(&url, hasty()).unwrap_err();
    assert!(started.elapsed() < Duration::from_secs(5));
    let expected =
        format!("the store at `postgres://127.0.0.1:{port}/fleet` cannot be reached: nobody listens there");
    assert_eq!(error.to_string(), expected);
}

#[test]
fn a_server_that_never_answers_is_an_error_in_time() {
    // The system accepts connections, and nobody ever reads from them.
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("postgres://me:s3cret@{}/fleet", listener.local_addr().unwrap());
    let fleet = PostgresStore::open(&url, hasty()).unwrap();
    let started = Instant::now();
    let error = fleet.append(&entries(0..1)).unwrap_err();
    assert!(matches!(error, StoreError::Unreachable { .. }), "{error}");
    assert!(!error.to_string().contains("s3cret"));
    let taken = fleet.change(&DocumentKey::Grants, 100, &mut |_| Ok(DocumentChange::Keep));
    assert!(taken.is_err());
    assert!(started.elapsed() < Duration::from_secs(20));
}

#[test]
fn a_wrong_password_is_refused_and_not_shown() {
    let (name, _) = database();
    let port = PostgresServer::shared().port();
    let url = format!("postgres://postgres:s3cret@127.0.0.1:{port}/{name}");
    let error = PostgresStore::connect(&url, options()).unwrap_err();
    assert!(matches!(error, StoreError::Refused { .. }), "{error}");
    assert!(!format!("{error} {error:?}").contains("s3cret"));
}

#[test]
fn the_password_may_come_beside_the_url_and_the_way_may_be_a_socket() {
    let (name, _) = database();
    let server = PostgresServer::shared();
    let url = format!("postgres://postgres@127.0.0.1:{}/{name}", server.port());
    let given = PostgresOptions { password: Some(server.password().to_owned()), ..options() };
    assert!(!format!("{given:?}").contains(server.password()));
    let fleet = PostgresStore::connect(&url, given).unwrap();
    fleet.append(&entries(0..2)).unwrap();
    let through_socket = connect(&server.socket_url(&name));
    assert_eq!(through_socket.trail_head().unwrap().unwrap().number, 2);
    assert_eq!(fleet.place(), format!("postgres://127.0.0.1:{}/{name}", server.port()));
}

#[test]
fn what_holds_for_a_connection_is_set_whatever_the_database_says() {
    let (name, url) = database();
    run_sql(
        &name,
        &format!(
            "ALTER DATABASE {name} SET synchronous_commit = off;
             ALTER DATABASE {name} SET default_transaction_isolation = 'serializable'"
        ),
    );
    drop(connect(&url));
    run_sql(
        &name,
        "CREATE TABLE public.seen (settings text);
         CREATE FUNCTION public.note() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
             INSERT INTO public.seen SELECT string_agg(name || '=' || setting, ' ' ORDER BY name) FROM pg_settings
                 WHERE name IN ('application_name', 'idle_in_transaction_session_timeout', 'lock_timeout',
                     'statement_timeout', 'synchronous_commit', 'transaction_isolation');
             RETURN NULL;
         END $$;
         CREATE TRIGGER note AFTER UPDATE ON portcullis.audit_head EXECUTE FUNCTION public.note()",
    );
    connect(&url).append(&entries(0..1)).unwrap();
    assert_eq!(
        run_sql(&name, "SELECT settings FROM public.seen"),
        "application_name=portcullis idle_in_transaction_session_timeout=10000 lock_timeout=60000 \
         statement_timeout=30000 synchronous_commit=on transaction_isolation=read committed"
    );
}

#[test]
fn a_lock_that_somebody_holds_is_busy_in_time() {
    let (_, url) = database();
    let fleet = connect(&url);
    let other =
        PostgresStore::open(&url, PostgresOptions { patience: Duration::from_secs(1), ..options() }).unwrap();
    fleet
        .change(&DocumentKey::Session("a".to_owned()), 100, &mut |_| {
            let facts = DocumentKey::Facts("a".to_owned());
            let error =
                other.change(&facts, 100, &mut |_| Ok(DocumentChange::Write(b"x".to_vec()))).unwrap_err();
            assert!(matches!(error, StoreError::Busy { .. }), "{error}");
            // Somebody else's session is nobody's business.
            other
                .change(&DocumentKey::Facts("b".to_owned()), 100, &mut |_| Ok(DocumentChange::Keep))
                .unwrap();
            assert!(!other.forget_session("a", &|_, _| Ok(true)).unwrap());
            Ok(DocumentChange::Write(b"kept".to_vec()))
        })
        .unwrap();
    assert_eq!(other.read(&DocumentKey::Session("a".to_owned()), 100).unwrap().unwrap(), b"kept");
}

#[test]
fn a_connection_is_encrypted_and_the_server_proves_who_it_is() {
    let folder = tempfile::tempdir().unwrap();
    fs::set_permissions(folder.path(), fs::Permissions::from_mode(0o755)).unwrap();
    let key = folder.path().join("key.pem");
    fs::copy(certificate("server.key.pem"), &key).unwrap();
    fs::set_permissions(&key, fs::Permissions::from_mode(0o600)).unwrap();
    let chain = folder.path().join("server.pem");
    fs::copy(certificate("server.pem"), &chain).unwrap();
    // The server may run as somebody else, who must be able to read its key.
    if let Some((user, group)) = PostgresServer::account() {
        chown(&key, Some(user), Some(group)).unwrap();
    }
    let settings = [
        "ssl=on".to_owned(),
        format!("ssl_cert_file={}", chain.display()),
        format!("ssl_key_file={}", key.display()),
    ];
    let server = PostgresServer::start_with(&settings.each_ref().map(String::as_str));
    server.database("fleet");
    let url = |host: &str, query: &str| {
        format!("postgres://postgres:{}@{host}:{}/fleet?{query}", server.password(), server.port())
    };
    let authority = format!("sslrootcert={}", certificate("authority.pem").display());
    let fleet = PostgresStore::connect(&url("localhost", &authority), options()).unwrap();
    fleet.append(&entries(0..1)).unwrap();
    let encrypted = "SELECT DISTINCT ssl FROM pg_stat_ssl JOIN pg_stat_activity USING (pid)
        WHERE application_name = 'portcullis'";
    assert_eq!(server.run_sql("fleet", encrypted), "t");
    let strange = format!("sslrootcert={}", certificate("stranger.pem").display());
    let wrong = [
        // Another authority.
        url("localhost", &strange),
        // An authority that the web trusts.
        url("localhost", "sslmode=verify-full"),
        // Another name than the certificate has.
        url("127.0.0.1", &authority),
    ];
    for url in wrong {
        let error = PostgresStore::connect(&url, options()).unwrap_err();
        assert!(matches!(error, StoreError::Unreachable { .. }), "{error}");
        assert!(!error.to_string().contains(server.password()), "{error}");
    }
    let nothing = format!("sslrootcert={}", key.display());
    assert!(matches!(
        PostgresStore::open(&url("localhost", &nothing), options()),
        Err(StoreError::Refused { .. })
    ));
}

#[test]
fn however_many_look_for_long_others_go_on() {
    const LOOKING: usize = 8;
    let (name, url) = database();
    let fleet = connect(&url);
    fleet.append(&entries(0..1)).unwrap();
    // Whoever counts records waits; whoever changes a document does not.
    run_sql(
        &name,
        "CREATE VIEW portcullis.slow AS SELECT pg_sleep(0.5)::text AS slept;
         ALTER TABLE portcullis.audit RENAME TO lines;
         CREATE VIEW portcullis.audit AS SELECT lines.* FROM portcullis.lines, portcullis.slow",
    );
    let done = AtomicUsize::new(0);
    thread::scope(|scope| {
        for _ in 0..LOOKING {
            scope.spawn(|| {
                assert_eq!(fleet.count(&Filter::default()).unwrap(), 1);
                done.fetch_add(1, Ordering::SeqCst);
            });
        }
        for _ in 0..5 {
            fleet
                .change(&DocumentKey::Grants, 100, &mut |_| Ok(DocumentChange::Write(b"x".to_vec())))
                .unwrap();
        }
        assert!(done.load(Ordering::SeqCst) < LOOKING, "a change waited for everybody who looked");
    });
}
