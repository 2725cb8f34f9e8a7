//! One provider's connection: a request goes out, a response or a fault comes back, in time.

use std::fmt;
use std::io::Read;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use ureq::Agent;
use ureq::http::{HeaderName, HeaderValue, Response};
use ureq::tls::{RootCerts, TlsConfig};

use super::cancel::SLICE;
use super::certificates::read_roots;
use super::failure::{ExchangeFailure, aborted, connection, malformed, refused, timeout, translate};
use super::{BaseUrl, CancelFlag, FaultKind, ModelFault, RetryAdvice, TunnelProxy};
use crate::key::Secret;
use crate::provider::WireRequest;

const USER_AGENT: &str = concat!("portcullis/", env!("CARGO_PKG_VERSION"));

/// How a key is presented.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum KeyPresentation {
    /// As it is, in a header of this name.
    Header(&'static str),
    /// As a bearer token in `authorization`.
    Bearer,
    /// Not at all.
    None,
}

/// What one exchange may take at most, besides its deadline.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ExchangeLimits {
    /// The time for the name, the connection, the proxy and the encryption together.
    pub connect: Duration,
    /// The bytes of an answer.
    pub body: usize,
}

impl Default for ExchangeLimits {
    fn default() -> ExchangeLimits {
        ExchangeLimits { connect: Duration::from_secs(5), body: 4 * 1024 * 1024 }
    }
}

/// What came back, whatever its status.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RawResponse {
    /// The status; never a redirect.
    pub status: u16,
    /// The headers in their order, names in lower case.
    pub headers: Vec<(String, String)>,
    /// The body, whole.
    pub body: Vec<u8>,
    /// How long it took.
    pub elapsed: Duration,
}

/// A way to a provider. Connections are kept open between requests.
#[must_use = "it sends nothing by itself"]
pub struct ProviderConnection {
    base: BaseUrl,
    auth: KeyPresentation,
    secret: Option<Secret>,
    proxy: Option<TunnelProxy>,
    ca_file: Option<PathBuf>,
    limits: ExchangeLimits,
    idle: Mutex<Vec<(TrustedRoots, Agent)>>,
    prefers_public: AtomicBool,
}

/// Whose signatures on certificates count.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum TrustedRoots {
    /// Those everybody trusts.
    Public,
    /// Those of the CA file.
    Private,
}

/// A request with its key, ready to leave.
struct PreparedRequest {
    url: String,
    headers: Vec<(HeaderName, HeaderValue)>,
    body: Vec<u8>,
    host: String,
    limits: ExchangeLimits,
}

impl ProviderConnection {
    /// Returns a way to a provider that presents no key.
    pub fn new(base: BaseUrl) -> ProviderConnection {
        ProviderConnection {
            base,
            auth: KeyPresentation::None,
            secret: None,
            proxy: None,
            ca_file: None,
            limits: ExchangeLimits::default(),
            idle: Mutex::new(Vec::new()),
            prefers_public: AtomicBool::new(false),
        }
    }

    /// Presents a key. Without one, where one is due, nothing is sent.
    pub fn with_key(self, auth: KeyPresentation, secret: Option<Secret>) -> ProviderConnection {
        ProviderConnection { auth, secret, ..self }
    }

    /// Says whether there is a key to present.
    pub fn has_key(&self) -> bool {
        self.secret.is_some()
    }

    /// Returns a body with the key taken out of it, should the other side have repeated it, however it is escaped and
    /// whatever stands beside it.
    pub fn without_key(&self, body: Vec<u8>) -> Vec<u8> {
        self.secret.as_ref().and_then(|secret| secret.erase(&body)).unwrap_or(body)
    }

    /// Returns a text with the key taken out of it.
    pub(crate) fn clean_text(&self, text: &str) -> String {
        match &self.secret {
            Some(secret) if secret.occurs_in(text) => secret.redact(text),
            _ => text.to_owned(),
        }
    }

    /// Takes the key out of what a provider complained of.
    pub(crate) fn clean_complaint(&self, mut fault: ModelFault) -> ModelFault {
        fault.message = self.clean_text(&fault.message);
        if let FaultKind::Unsupported(parameter) = &mut fault.kind {
            *parameter = self.clean_text(parameter);
        }
        fault
    }

    /// Presents a key from now on.
    pub fn set_key(&mut self, auth: KeyPresentation, secret: Option<Secret>) {
        self.auth = auth;
        self.secret = secret;
    }

    /// Goes through a proxy, except to this machine and to the hosts the proxy lists.
    pub fn with_proxy(self, proxy: Option<TunnelProxy>) -> ProviderConnection {
        ProviderConnection { proxy, ..self }
    }

    /// Trusts the certificates of a PEM file too.
    pub fn with_ca_file(self, ca_file: Option<PathBuf>) -> ProviderConnection {
        ProviderConnection { ca_file, ..self }
    }

    /// Sets other limits.
    pub fn with_limits(self, limits: ExchangeLimits) -> ProviderConnection {
        ProviderConnection { limits, ..self }
    }

    /// Returns the address requests go to.
    pub fn base(&self) -> &BaseUrl {
        &self.base
    }

    /// Sends a request and waits for its response, until the deadline or until the caller gives up. Both hold whatever
    /// the other side does, name servers and proxies included.
    pub fn send(
        &self,
        request: &WireRequest,
        deadline: Instant,
        cancel: &CancelFlag,
    ) -> Result<RawResponse, ModelFault> {
        let started = Instant::now();
        let parcel = Arc::new(self.pack(request)?);
        let mut outcome = Err(ExchangeFailure::Other(aborted()));
        for trust in self.trusts().iter().copied() {
            outcome = self.exchange(&parcel, trust, deadline, cancel);
            match outcome {
                Ok(_) => self.prefers_public.store(trust == TrustedRoots::Public, Ordering::Relaxed),
                Err(ExchangeFailure::Untrusted(_)) => continue,
                Err(ExchangeFailure::Other(_)) => {}
            }
            break;
        }
        let mut response = outcome.map_err(|failure| self.clean(failure.into_fault()))?;
        response.elapsed = started.elapsed();
        Ok(response)
    }

    /// Returns whose signatures to go by, in the order to try. The two cannot be joined, since the client knows the
    /// public ones only by themselves; a connection that is refused for its certificate has sent nothing yet, so that
    /// trying both is the same as trusting both.
    fn trusts(&self) -> &'static [TrustedRoots] {
        match (&self.ca_file, self.prefers_public.load(Ordering::Relaxed)) {
            (Some(_), _) if !self.base.is_https() => &[TrustedRoots::Public],
            (Some(_), false) => &[TrustedRoots::Private, TrustedRoots::Public],
            (Some(_), true) => &[TrustedRoots::Public, TrustedRoots::Private],
            (None, _) => &[TrustedRoots::Public],
        }
    }

    fn pack(&self, request: &WireRequest) -> Result<PreparedRequest, ModelFault> {
        let url = self.base.endpoint(&request.path).map_err(|what| refused(&what))?;
        let mut headers = vec![
            (HeaderName::from_static("content-type"), HeaderValue::from_static("application/json")),
            (HeaderName::from_static("accept"), HeaderValue::from_static("application/json")),
        ];
        for (name, value) in &request.headers {
            headers.push(header(name, value)?);
        }
        let key = match self.auth {
            KeyPresentation::None => None,
            KeyPresentation::Header(name) => Some((name, self.secret()?.expose().to_owned())),
            KeyPresentation::Bearer => Some(("authorization", format!("Bearer {}", self.secret()?.expose()))),
        };
        if let Some((name, key)) = key {
            let (name, mut value) = header(name, &key)?;
            value.set_sensitive(true);
            headers.push((name, value));
        }
        let body = serde_json::to_vec(&request.body)
            .map_err(|_| refused("the request cannot be written as JSON"))?;
        Ok(PreparedRequest { url, headers, body, host: self.base.host().to_owned(), limits: self.limits })
    }

    fn secret(&self) -> Result<&Secret, ModelFault> {
        let missing = || {
            let message = format!("{} wants a key and there is none", self.base.host());
            ModelFault::new(FaultKind::NoKey, message, RetryAdvice::No)
        };
        self.secret.as_ref().ok_or_else(missing)
    }

    /// Lets a thread of its own do the exchange, so that nothing it waits for can keep the caller.
    fn exchange(
        &self,
        parcel: &Arc<PreparedRequest>,
        trust: TrustedRoots,
        deadline: Instant,
        cancel: &CancelFlag,
    ) -> Result<RawResponse, ExchangeFailure> {
        let remaining = deadline.saturating_duration_since(Instant::now());
        if cancel.is_cancelled() {
            return Err(ExchangeFailure::Other(aborted()));
        }
        if remaining.is_zero() {
            return Err(ExchangeFailure::Other(timeout(&parcel.host)));
        }
        let agent = self.take_agent(trust).map_err(ExchangeFailure::Other)?;
        let (sender, receiver) = mpsc::channel();
        let worker = {
            let (agent, parcel) = (agent.clone(), Arc::clone(parcel));
            move || drop(sender.send(perform(&agent, &parcel, remaining)))
        };
        thread::Builder::new().name("portcullis-request".to_owned()).spawn(worker).map_err(|error| {
            let message = format!("no thread for the request: {}", error.kind());
            ExchangeFailure::Other(connection(&message, RetryAdvice::Backoff))
        })?;
        let outcome = wait(&receiver, &parcel.host, deadline, cancel);
        match outcome {
            Ok(_) => self.give_back(trust, agent),
            // The thread may still be at it: its sockets are closed under it.
            Err(_) => agent.shutdown(),
        }
        outcome
    }

    /// Returns a client nobody else uses, so that giving up one request does not end another.
    fn take_agent(&self, trust: TrustedRoots) -> Result<Agent, ModelFault> {
        {
            let mut idle = self.idle.lock().unwrap_or_else(PoisonError::into_inner);
            if let Some(at) = idle.iter().position(|(kind, _)| *kind == trust) {
                return Ok(idle.swap_remove(at).1);
            }
        }
        let roots = match (trust, &self.ca_file) {
            (TrustedRoots::Private, Some(path)) => read_roots(path)?,
            _ => RootCerts::WebPki,
        };
        // The client would take a proxy from the environment by itself: only ours counts.
        let proxy = self.proxy.as_ref().filter(|proxy| proxy.serves(&self.base)).map(TunnelProxy::client);
        let config = Agent::config_builder()
            .tls_config(TlsConfig::builder().root_certs(roots).build())
            .proxy(proxy)
            .https_only(self.base.is_https())
            .http_status_as_error(false)
            .max_redirects(0)
            .max_redirects_will_error(false)
            .user_agent(USER_AGENT)
            .max_idle_connections(1)
            .build();
        Ok(config.new_agent())
    }

    fn give_back(&self, trust: TrustedRoots, agent: Agent) {
        let mut idle = self.idle.lock().unwrap_or_else(PoisonError::into_inner);
        if idle.len() < 4 {
            idle.push((trust, agent));
        }
    }

    /// Takes the key out of a message, should the other side ever get it in.
    fn clean(&self, mut fault: ModelFault) -> ModelFault {
        if let Some(secret) = &self.secret {
            fault.message = secret.redact(&fault.message);
        }
        fault
    }
}

impl fmt::Debug for ProviderConnection {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.debug_struct("ProviderConnection")
            .field("base", &self.base.as_str())
            .field("auth", &self.auth)
            .field("secret", &self.secret)
            .field("proxy", &self.proxy)
            .field("ca_file", &self.ca_file)
            .field("limits", &self.limits)
            .finish_non_exhaustive()
    }
}

/// Makes a header. Nothing that could begin another one gets through; the value is not repeated in the complaint.
fn header(name: &str, value: &str) -> Result<(HeaderName, HeaderValue), ModelFault> {
    match (HeaderName::try_from(name), HeaderValue::from_str(value)) {
        (Ok(name), Ok(value)) => Ok((name, value)),
        _ => Err(refused(&format!("the value of the header {name} cannot be sent"))),
    }
}

/// Waits for the thread that does the exchange, until the deadline or until the caller gives up.
fn wait(
    receiver: &Receiver<Result<RawResponse, ExchangeFailure>>,
    host: &str,
    deadline: Instant,
    cancel: &CancelFlag,
) -> Result<RawResponse, ExchangeFailure> {
    loop {
        if cancel.is_cancelled() {
            return Err(ExchangeFailure::Other(aborted()));
        }
        let left = deadline.saturating_duration_since(Instant::now());
        if left.is_zero() {
            return Err(ExchangeFailure::Other(timeout(host)));
        }
        match receiver.recv_timeout(left.min(SLICE)) {
            Ok(outcome) => return outcome,
            Err(RecvTimeoutError::Timeout) => {}
            Err(RecvTimeoutError::Disconnected) => {
                let message = format!("the request to {host} ended without an answer");
                return Err(ExchangeFailure::Other(connection(&message, RetryAdvice::Backoff)));
            }
        }
    }
}

/// Does the exchange itself.
fn perform(
    agent: &Agent,
    parcel: &PreparedRequest,
    remaining: Duration,
) -> Result<RawResponse, ExchangeFailure> {
    let connect = Some(parcel.limits.connect).filter(|connect| *connect < remaining);
    let mut request = agent
        .post(&parcel.url)
        .config()
        .timeout_global(Some(remaining))
        .timeout_resolve(connect)
        .timeout_connect(connect)
        .build();
    for (name, value) in &parcel.headers {
        request = request.header(name, value);
    }
    let response = request.send(parcel.body.as_slice()).map_err(|error| translate(error, &parcel.host))?;
    receive(response, parcel)
}

fn receive(response: Response<ureq::Body>, parcel: &PreparedRequest) -> Result<RawResponse, ExchangeFailure> {
    let (host, limit) = (&parcel.host, parcel.limits.body);
    let status = response.status();
    if status.is_redirection() {
        let message = format!(
            "{host} answers with a redirect ({}), which is not followed, set the base URL to where it leads",
            status.as_u16()
        );
        return Err(ExchangeFailure::Other(malformed(&message)));
    }
    let too_large =
        || ExchangeFailure::Other(malformed(&format!("the answer of {host} is larger than {limit} bytes")));
    let most = u64::try_from(limit).unwrap_or(u64::MAX);
    let headers = response.headers().iter().map(|(name, value)| {
        (name.as_str().to_owned(), String::from_utf8_lossy(value.as_bytes()).into_owned())
    });
    let headers = headers.collect();
    let body = response.into_body();
    if body.content_length().is_some_and(|length| length > most) {
        return Err(too_large());
    }
    let mut bytes = Vec::new();
    let mut reader = body.into_reader().take(most.saturating_add(1));
    reader.read_to_end(&mut bytes).map_err(|error| translate(ureq::Error::from(error), host))?;
    if bytes.len() > limit {
        return Err(too_large());
    }
    Ok(RawResponse { status: status.as_u16(), headers, body: bytes, elapsed: Duration::ZERO })
}

#[cfg(test)]
mod tests {
    use pretty_assertions::assert_eq;

    use super::*;

    fn connect(base: &str) -> ProviderConnection {
        ProviderConnection::new(BaseUrl::parse(base).unwrap())
    }

    #[test]
    fn a_ca_file_adds_to_the_authorities_everybody_trusts() {
        let plain = connect("https://a.example");
        assert_eq!(plain.trusts(), [TrustedRoots::Public]);
        let ours = connect("https://a.example").with_ca_file(Some(PathBuf::from("ca.pem")));
        assert_eq!(ours.trusts(), [TrustedRoots::Private, TrustedRoots::Public]);
        ours.prefers_public.store(true, Ordering::Relaxed);
        assert_eq!(ours.trusts(), [TrustedRoots::Public, TrustedRoots::Private]);
    }

    #[test]
    fn a_ca_file_is_not_looked_at_where_nothing_is_encrypted() {
        let near = connect("http://127.0.0.1:1").with_ca_file(Some(PathBuf::from("absent.pem")));
        assert_eq!(near.trusts(), [TrustedRoots::Public]);
    }

    #[test]
    fn clients_that_lie_idle_are_few() {
        let connection = connect("https://a.example");
        let agents: Vec<Agent> =
            (0..9).map(|_| connection.take_agent(TrustedRoots::Public).unwrap()).collect();
        for agent in agents {
            connection.give_back(TrustedRoots::Public, agent);
        }
        assert_eq!(connection.idle.lock().unwrap().len(), 4);
    }
}
