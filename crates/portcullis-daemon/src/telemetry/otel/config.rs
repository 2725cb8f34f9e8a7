//! Where and how a collector is told: the standard variables of OpenTelemetry, and nothing else.

use std::fmt;
use std::time::Duration;

use portcullis_classifier::transport::{BaseUrl, TunnelProxy};

use super::sampler::Sampler;
use portcullis_gate::env_vars as env;

/// How long a delivery may take, if nothing else is said.
const TIMEOUT: Duration = Duration::from_secs(10);

/// The longest time that can be asked for.
const LONGEST_TIMEOUT: Duration = Duration::from_mins(1);

/// How often metrics are told, if nothing else is said.
const INTERVAL: Duration = Duration::from_mins(1);

/// The shortest time between two deliveries of metrics.
const SHORTEST_INTERVAL: Duration = Duration::from_millis(100);

/// What the variables say.
#[derive(Debug)]
pub(super) struct Config {
    pub(super) traces: Option<Target>,
    pub(super) metrics: Option<Target>,
    pub(super) logs: Option<Target>,
    pub(super) headers: Headers,
    pub(super) timeout: Duration,
    pub(super) interval: Duration,
    pub(super) sampler: Sampler,
    pub(super) service: Option<String>,
    pub(super) resource: Vec<(String, String)>,
    pub(super) proxy: Option<TunnelProxy>,
    /// What was not understood.
    pub(super) notes: Vec<String>,
}

/// Where one signal goes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Target {
    pub(super) base: BaseUrl,
    pub(super) path: String,
}

/// Headers of every delivery. They may hold a key, so they are not shown.
#[derive(Clone, PartialEq, Eq)]
pub(super) struct Headers(pub(super) Vec<(String, String)>);

impl fmt::Debug for Headers {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.debug_list().entries(self.0.iter().map(|(name, _)| name)).finish()
    }
}

/// The variables of one signal.
struct Signal {
    endpoint: &'static str,
    exporter: &'static str,
    path: &'static str,
}

const TRACES: Signal = Signal {
    endpoint: env::OTEL_EXPORTER_OTLP_TRACES_ENDPOINT,
    exporter: env::OTEL_TRACES_EXPORTER,
    path: "/v1/traces",
};
const METRICS: Signal = Signal {
    endpoint: env::OTEL_EXPORTER_OTLP_METRICS_ENDPOINT,
    exporter: env::OTEL_METRICS_EXPORTER,
    path: "/v1/metrics",
};
const LOGS: Signal = Signal {
    endpoint: env::OTEL_EXPORTER_OTLP_LOGS_ENDPOINT,
    exporter: env::OTEL_LOGS_EXPORTER,
    path: "/v1/logs",
};

/// The variables that are set.
struct Variables<'a>(&'a [(&'static str, String)]);

impl Variables<'_> {
    fn find(&self, name: &str) -> Option<&str> {
        self.0.iter().find(|(known, _)| *known == name).map(|(_, value)| value.trim())
    }
}

impl Config {
    /// Reads the variables. `None` if nobody is to be told anything.
    pub(super) fn parse(variables: &[(&'static str, String)]) -> Option<Self> {
        let set = Variables(variables);
        if set.find(env::OTEL_SDK_DISABLED).is_some_and(|value| value.eq_ignore_ascii_case("true")) {
            return None;
        }
        let names = [env::OTEL_EXPORTER_OTLP_ENDPOINT, TRACES.endpoint, METRICS.endpoint, LOGS.endpoint];
        if names.iter().all(|name| set.find(name).is_none()) {
            return None;
        }
        let mut notes = Vec::new();
        let is_spoken =
            set.find(env::OTEL_EXPORTER_OTLP_PROTOCOL).is_none_or(|name| name.starts_with("http/"));
        if !is_spoken {
            notes.push(format!(
                "{} asks for a protocol that is not spoken here: no collector is told anything; \
                 set it to http/json and name the collector's HTTP port",
                env::OTEL_EXPORTER_OTLP_PROTOCOL
            ));
        }
        let mut target = |signal: &Signal| {
            let found = if is_spoken { target(&set, signal) } else { Ok(None) };
            found.unwrap_or_else(|note| {
                notes.push(note);
                None
            })
        };
        let (traces, metrics, logs) = (target(&TRACES), target(&METRICS), target(&LOGS));
        let headers = pairs(&set, env::OTEL_EXPORTER_OTLP_HEADERS, &mut notes);
        let resource = pairs(&set, env::OTEL_RESOURCE_ATTRIBUTES, &mut notes);
        let timeout = milliseconds(&set, env::OTEL_EXPORTER_OTLP_TIMEOUT, TIMEOUT, &mut notes);
        let interval = milliseconds(&set, env::OTEL_METRIC_EXPORT_INTERVAL, INTERVAL, &mut notes);
        let (name, argument) = (set.find(env::OTEL_TRACES_SAMPLER), set.find(env::OTEL_TRACES_SAMPLER_ARG));
        let (sampler, note) = Sampler::parse(name, argument);
        notes.extend(note);
        Some(Self {
            traces,
            metrics,
            logs,
            headers: Headers(headers.into_iter().map(|(name, value)| (name.to_lowercase(), value)).collect()),
            timeout: timeout.min(LONGEST_TIMEOUT),
            interval: interval.max(SHORTEST_INTERVAL),
            sampler,
            service: set.find(env::OTEL_SERVICE_NAME).map(str::to_owned),
            resource,
            proxy: proxy(&set, &mut notes),
            notes,
        })
    }
}

/// Finds where a signal goes: to the address of its own as it stands, or below the common one.
fn target(set: &Variables<'_>, signal: &Signal) -> Result<Option<Target>, String> {
    if set.find(signal.exporter).is_some_and(|name| name == "none") {
        return Ok(None);
    }
    let (name, address, is_whole) =
        match (set.find(signal.endpoint), set.find(env::OTEL_EXPORTER_OTLP_ENDPOINT)) {
            (Some(own), _) => (signal.endpoint, own, true),
            (None, Some(common)) => (env::OTEL_EXPORTER_OTLP_ENDPOINT, common, false),
            (None, None) => return Ok(None),
        };
    let complain = |what: String| format!("{name} cannot be used: {}", what.replace("base URL", "address"));
    if !is_whole {
        let base = BaseUrl::parse(address).map_err(complain)?;
        return Ok(Some(Target { base, path: signal.path.to_owned() }));
    }
    let after_scheme = address.find("://").map_or(0, |at| at + 3);
    let path_at = address.get(after_scheme..).and_then(|rest| rest.find('/')).map(|at| after_scheme + at);
    let (origin, path) = address.split_at_checked(path_at.unwrap_or(address.len())).unwrap_or((address, ""));
    let base = BaseUrl::parse(origin).map_err(complain)?;
    let path = if path.is_empty() { "/" } else { path };
    // The same check is made for every request; here it can still be said.
    base.endpoint(path).map_err(complain)?;
    Ok(Some(Target { base, path: path.to_owned() }))
}

/// Reads `name=value,name=value`, where values may be percent-encoded. What is malformed is left out, and never repeated.
fn pairs(set: &Variables<'_>, name: &str, notes: &mut Vec<String>) -> Vec<(String, String)> {
    let Some(text) = set.find(name) else { return Vec::new() };
    let mut pairs = Vec::new();
    for part in text.split(',').map(str::trim).filter(|part| !part.is_empty()) {
        let pair = part.split_once('=').and_then(|(key, value)| {
            let (key, value) = (percent_decoded(key.trim())?, percent_decoded(value.trim())?);
            (!key.is_empty() && !value.chars().any(char::is_control)).then_some((key, value))
        });
        match pair {
            Some(pair) => pairs.push(pair),
            None => notes.push(format!("a part of {name} is not `name=value`, and is left out")),
        }
    }
    pairs
}

fn percent_decoded(text: &str) -> Option<String> {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.bytes();
    while let Some(byte) = rest.next() {
        if byte != b'%' {
            bytes.push(byte);
            continue;
        }
        let digits = [rest.next()?, rest.next()?];
        if !digits.iter().all(u8::is_ascii_hexdigit) {
            return None;
        }
        bytes.push(u8::from_str_radix(std::str::from_utf8(&digits).ok()?, 16).ok()?);
    }
    String::from_utf8(bytes).ok()
}

fn milliseconds(set: &Variables<'_>, name: &str, usual: Duration, notes: &mut Vec<String>) -> Duration {
    let Some(text) = set.find(name) else { return usual };
    match text.parse() {
        Ok(number) if number > 0 => Duration::from_millis(number),
        _ => {
            notes.push(format!("{name} is no number of milliseconds: {} are used", usual.as_millis()));
            usual
        }
    }
}

fn proxy(set: &Variables<'_>, notes: &mut Vec<String>) -> Option<TunnelProxy> {
    let exceptions: Vec<String> = set.find(env::NO_PROXY).into_iter().map(str::to_owned).collect();
    match TunnelProxy::parse(set.find(env::HTTPS_PROXY)?, &exceptions) {
        Ok(proxy) => Some(proxy),
        Err(what) => {
            notes.push(format!("{} cannot be used for the collector: {what}", env::HTTPS_PROXY));
            None
        }
    }
}

#[cfg(test)]
mod tests {
    use pretty_assertions::assert_eq;

    use super::*;

    const COMMON: &str = env::OTEL_EXPORTER_OTLP_ENDPOINT;

    fn parse(variables: &[(&'static str, &str)]) -> Option<Config> {
        let variables: Vec<_> = variables.iter().map(|(name, value)| (*name, (*value).to_owned())).collect();
        Config::parse(&variables)
    }

    fn url(target: Option<&Target>) -> String {
        target.map_or_else(|| "none".to_owned(), |target| target.base.endpoint(&target.path).unwrap())
    }

    #[test]
    fn nothing_said_is_nobody_told() {
        assert!(parse(&[]).is_none());
        assert!(
            parse(&[(env::OTEL_SERVICE_NAME, "gate"), (env::OTEL_TRACES_SAMPLER, "always_on")]).is_none()
        );
        assert!(parse(&[(COMMON, "http://localhost:4318"), (env::OTEL_SDK_DISABLED, "TRUE")]).is_none());
    }

    #[test]
    fn signals_go_below_the_common_address_or_to_their_own_as_it_stands() {
        let config = parse(&[
            (COMMON, "https://collector.example/otlp/"),
            (env::OTEL_EXPORTER_OTLP_TRACES_ENDPOINT, "http://127.0.0.1:9/in?tenant=a"),
            (env::OTEL_EXPORTER_OTLP_METRICS_ENDPOINT, "https://metrics.example"),
        ])
        .unwrap();
        assert_eq!(config.notes, [""; 0]);
        assert_eq!(url(config.traces.as_ref()), "http://127.0.0.1:9/in?tenant=a");
        assert_eq!(url(config.metrics.as_ref()), "https://metrics.example/");
        assert_eq!(url(config.logs.as_ref()), "https://collector.example/otlp/v1/logs");
        let config = parse(&[(COMMON, "http://localhost:4318"), (env::OTEL_LOGS_EXPORTER, "none")]).unwrap();
        assert_eq!(url(config.traces.as_ref()), "http://localhost:4318/v1/traces");
        assert_eq!(config.logs, None);
    }

    #[test]
    fn an_address_that_would_leak_is_not_used() {
        for address in ["http://collector.example:4318", "https://me:hunter2@a.example", "collector:4317"] {
            let config = parse(&[(COMMON, address)]).unwrap();
            assert_eq!((&config.traces, &config.metrics, &config.logs), (&None, &None, &None), "{address}");
            let notes = config.notes.join("\n");
            assert!(notes.contains(COMMON) && !notes.contains("hunter2"), "{notes}");
        }
    }

    #[test]
    fn a_protocol_that_is_not_spoken_is_said() {
        let config =
            parse(&[(COMMON, "https://a.example"), (env::OTEL_EXPORTER_OTLP_PROTOCOL, "grpc")]).unwrap();
        assert_eq!((config.notes.len(), config.traces), (1, None));
        let config =
            parse(&[(COMMON, "https://a.example"), (env::OTEL_EXPORTER_OTLP_PROTOCOL, "http/protobuf")]);
        assert!(config.unwrap().traces.is_some());
    }

    #[test]
    fn headers_are_decoded_and_not_shown() {
        let value = "Authorization=Bearer%20hunter2, x-tenant = a=b,broken,%zz=1,evil=a%0d%0ab";
        let config =
            parse(&[(COMMON, "https://a.example"), (env::OTEL_EXPORTER_OTLP_HEADERS, value)]).unwrap();
        let expected = [("authorization", "Bearer hunter2"), ("x-tenant", "a=b")];
        let expected = expected.map(|(name, value)| (name.to_owned(), value.to_owned()));
        assert_eq!(config.headers.0, expected);
        assert_eq!(config.notes.len(), 3);
        assert!(!format!("{config:?}").contains("hunter2"));
    }

    #[test]
    fn times_are_milliseconds_within_bounds() {
        let times = |timeout, interval| {
            let config = parse(&[
                (COMMON, "https://a.example"),
                (env::OTEL_EXPORTER_OTLP_TIMEOUT, timeout),
                (env::OTEL_METRIC_EXPORT_INTERVAL, interval),
            ]);
            config.map(|config| (config.timeout.as_millis(), config.interval.as_millis())).unwrap()
        };
        assert_eq!(times("2500", "1"), (2_500, 100));
        assert_eq!(times("99999999", "x"), (60_000, 60_000));
        assert_eq!(times("0", "-1"), (10_000, 60_000));
    }
}
