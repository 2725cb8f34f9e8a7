//! Starting: one daemon for the state directory, its listeners, its tokens, then everything that requests work with.

use std::path::PathBuf;
use std::sync::Arc;

use portcullis_store::Store;
use tokio::task::JoinHandle;

use super::access::{Attempts, KnownAgents, Site};
use super::instance::Instance;
pub use super::login::SignIn;
use super::login::{Logins, sign_in_link};
use super::passkeys::Passkeys;
use super::policy::PolicyWatch;
use super::presence_codes::PresenceCodes;
use super::server::{ListenAddress, ListenOptions, Listeners};
use super::tokens::{self, Tokens};
use super::{Daemon, Hub, Queue, Recorder, SettingsCache, Shared, Stopping, Telemetry, router, tasks};
use portcullis_gate::Failure;
use portcullis_gate::clock::now_ms;
use portcullis_gate::daemon_client::{Places, Running};
use portcullis_gate::stores;
use portcullis_gate::{SessionSettings, SettingsFlags};
use portcullis_output::terminal::print_notes;

/// How a daemon is started.
#[derive(Debug, Clone, Default)]
pub struct StartOptions {
    /// Where it listens.
    pub listen: ListenOptions,
    /// Its unix socket, if it is not the usual one.
    pub socket: Option<PathBuf>,
    /// Further names it answers to.
    pub allowed_hosts: Vec<String>,
    /// The flags that choose settings, for every call.
    pub arguments: SettingsFlags,
}

/// A daemon that listens and has not yet answered anything.
#[derive(Debug)]
pub struct Started {
    daemon: Shared,
    listeners: Listeners,
    instance: Instance,
    running: Running,
    tasks: Vec<JoinHandle<()>>,
}

impl Daemon {
    /// Starts a daemon: from here on others find it.
    pub async fn start(options: StartOptions) -> Result<Started, Failure> {
        let session = SessionSettings::open(&options.arguments)?;
        let state = session.locations.state.clone().ok_or_else(|| {
            Failure::usage("there is no home directory, so nothing can be kept").with_hint("set HOME")
        })?;
        let places = Places::new(&state);
        tokens::prepare(&places)?;
        let mut instance = Instance::take(&places)?;
        let tokens = Tokens::open(&places)?;
        let mut listen = options.listen;
        if let ListenAddress::Usual { port } = &mut listen.address {
            *port = port.or(session.loaded.daemon.port);
        }
        let (store, policy) = open_store(session, state).await?;
        let socket = options.socket.unwrap_or_else(|| places.socket());
        let listeners = Listeners::bind(&listen, &socket).await?;
        let (address, is_secure) = (listeners.address(), listeners.is_secure());
        let site = Site::new(address, is_secure, &options.allowed_hosts);
        let running = Running {
            pid: std::process::id(),
            url: site.url().map(str::to_owned),
            address: address.map(|address| address.to_string()),
            socket,
            started_at_ms: now_ms(),
        };
        let hub = Hub::new();
        let telemetry = Telemetry::start(&portcullis_gate::env_vars::telemetry());
        let queue = Queue::new(store.clone(), hub.clone(), options.arguments.clone(), telemetry.clone());
        if let Some(url) = site.url() {
            queue.serves_at(url);
        }
        let daemon = Arc::new(Self {
            arguments: options.arguments,
            recorder: Recorder::start(&store, telemetry.clone())?,
            is_shared_store: !store.is_local(),
            store,
            policy,
            settings: SettingsCache::default(),
            queue,
            hub,
            telemetry,
            tokens,
            agents: KnownAgents::default(),
            codes: PresenceCodes::default(),
            passkeys: Passkeys::open(&places),
            logins: Logins::new(is_secure),
            usage: Arc::default(),
            attempts: Attempts::default(),
            site,
            stopping: Stopping::new(),
        });
        daemon.telemetry.watch(&daemon);
        let tasks = tasks::start(&daemon);
        instance.announce(&running)?;
        Ok(Started { daemon, listeners, instance, running, tasks })
    }
}

impl Started {
    /// Returns how others find it.
    pub const fn running(&self) -> &Running {
        &self.running
    }

    /// Makes a link that signs a person in, once, and the code by which they show that they are there; `None` if there are
    /// no pages. Both are for the terminal of a person and for nothing else.
    pub fn sign_in(&self) -> Result<Option<SignIn>, Failure> {
        sign_in_link(&self.daemon, now_ms())
    }

    /// Returns what stops it.
    pub fn stopping(&self) -> Stopping {
        self.daemon.stopping.clone()
    }

    /// Answers until the daemon is stopped. What was answered is on the trail when this returns.
    pub async fn serve(self) {
        let Self { daemon, listeners, instance, tasks, .. } = self;
        listeners.serve(Arc::clone(&daemon), router::router(Arc::clone(&daemon))).await;
        for task in tasks {
            task.abort();
        }
        daemon.recorder.stop();
        daemon.telemetry.shutdown();
        drop(instance);
    }
}

/// Opens the store the settings choose, and takes the policy it has before anybody can ask for anything.
async fn open_store(session: SessionSettings, state: PathBuf) -> Result<(Store, PolicyWatch), Failure> {
    let opening = tokio::task::spawn_blocking(move || {
        let store = stores::open_for_daemon(&session.loaded, state)?;
        let policy = PolicyWatch::default();
        print_notes(policy.look(&session.locations, &session.loaded, &store));
        Ok((store, policy))
    });
    opening.await.unwrap_or_else(|_| Err(Failure::internal("the store could not be opened")))
}
