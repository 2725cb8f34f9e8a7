//! A judge, a server that follows a script, and what comes of bringing them together.

use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::Duration;

use portcullis_classifier::KeySource;
use portcullis_classifier::model::{KeyHeader, ModelProvider, ModelTable};
use portcullis_classifier::prompt::Prompt;
use portcullis_classifier::protocol::{
    Classification, ClassifierJudge, ClassifierVerdict, JudgeStage, ModelEndpoint, StagePlan,
};
use portcullis_classifier::transport::{BaseUrl, CancelFlag, FaultKind, KeyPresentation, ProviderConnection};
use portcullis_core::{FailureAction, PendingAnswer};
use portcullis_testkit::{ModelScript, ScriptedServer};

/// Time for everything that ends by itself, retries included.
pub(crate) const LONG: Duration = Duration::from_secs(20);

/// Time for a server that never ends.
pub(crate) const SHORT: Duration = Duration::from_millis(300);

/// Rows that are tried at once. Most of their time they wait.
const WORKERS: usize = 8;

/// Starts a server that follows a script.
pub(crate) fn serve(script: &str) -> ScriptedServer {
    ScriptedServer::start(ModelScript::from_json(script).unwrap_or_else(|error| panic!("{script}: {error}")))
}

/// Returns the model a provider is tested with.
pub(crate) fn model_of(provider: ModelProvider) -> &'static str {
    match provider {
        ModelProvider::Anthropic => "claude-haiku-5-5",
        ModelProvider::OpenAi => "gpt-6-luna",
        ModelProvider::Chat => "house-model",
        ModelProvider::Ollama => "qwen3",
        ModelProvider::Gemini => "gemini-3.5-flash-lite",
    }
}

/// Returns the way to a model below an address.
pub(crate) fn endpoint_of(provider: ModelProvider, model: &str, address: &str) -> ModelEndpoint {
    let base = match provider {
        ModelProvider::OpenAi | ModelProvider::Chat => format!("{address}/v1"),
        ModelProvider::Anthropic | ModelProvider::Ollama | ModelProvider::Gemini => address.to_owned(),
    };
    ModelEndpoint {
        model: ModelTable::built_in().find(provider, model),
        connection: ProviderConnection::new(BaseUrl::parse(&base).unwrap()),
        auth: match provider.key_header() {
            KeyHeader::Named(name) => KeyPresentation::Header(name),
            KeyHeader::Bearer => KeyPresentation::Bearer,
        },
        key: KeySource::Variable { name: "JUDGE_KEY".to_owned(), value: Some("a-test-key".to_owned()) },
        is_resting: false,
    }
}

/// Returns the way to the usual model of a server.
pub(crate) fn endpoint(provider: ModelProvider, server: &ScriptedServer) -> ModelEndpoint {
    endpoint_of(provider, model_of(provider), &server.url())
}

/// Returns a judge of both stages who has time.
pub(crate) fn judge(endpoints: Vec<ModelEndpoint>) -> ClassifierJudge {
    ClassifierJudge {
        endpoints,
        stages: StagePlan::Both,
        shape: None,
        threshold: 50,
        labels: vec!["Production Deploy".to_owned()],
        timeout: LONG,
    }
}

/// Returns the judge who asks one server as Anthropic's.
pub(crate) fn judge_at(server: &ScriptedServer) -> ClassifierJudge {
    judge(vec![endpoint(ModelProvider::Anthropic, server)])
}

/// Judges an action that no verdict in these tests repeats.
pub(crate) fn rule(judge: &mut ClassifierJudge) -> Classification {
    judge.judge(&prompt(), &CancelFlag::new())
}

pub(crate) fn prompt() -> Prompt {
    Prompt {
        system: "You review one action of a coding agent.\n".to_owned(),
        session: "<session>\n{\"cwd\":\"/home/ada/app\"}\n</session>\n".to_owned(),
        history: vec!["{\"user\":\"fix the test\"}\n".to_owned(), "{\"Bash\":\"cargo test\"}\n".to_owned()],
        action: "{\"Bash\":\"frobnicate --now\"}\n".to_owned(),
        facts: "<facts>\nnothing was found\n</facts>\n".to_owned(),
    }
}

/// Says what came of a judgement, in words: `allow fast`, `block thinking`, `unclear fast: …`, `failed Timeout`.
pub(crate) fn told(ruling: &Classification) -> String {
    match &ruling.outcome {
        ClassifierVerdict::Allow { stage } => format!("allow {}", stage.as_str()),
        ClassifierVerdict::Block { stage, .. } => format!("block {}", stage.as_str()),
        ClassifierVerdict::Unclear { stage, why } => format!("unclear {}: {why}", stage.as_str()),
        ClassifierVerdict::Failed(fault) => format!("failed {:?}", fault.kind),
    }
}

/// What a failure becomes, whatever the gate.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Fate {
    /// The provider failed: the gate decides.
    Failed(FaultKind),
    /// It answered, and that was no verdict: denied whatever the gate.
    NoVerdict(JudgeStage, &'static str),
    /// The prompt is too long: a person is asked whatever the gate.
    TooLong,
}

/// Checks what becomes of a ruling behind both gates, and that its sentence names what happened.
pub(crate) fn check_fate(name: &str, ruling: &Classification, fate: &Fate, says: &str) {
    let expected = match fate {
        Fate::Failed(kind) => format!("failed {kind:?}"),
        Fate::NoVerdict(stage, why) => format!("unclear {}: {why}", stage.as_str()),
        Fate::TooLong => "failed TooLong".to_owned(),
    };
    assert_eq!(told(ruling), expected, "{name}: {:?}", ruling.outcome);
    for on_failure in [FailureAction::Deny, FailureAction::Ask] {
        let detail = match (ruling.answer(on_failure), fate) {
            (PendingAnswer::Unavailable { detail, on_failure: kept }, Fate::Failed(kind)) => {
                let is_kept = *kind != FaultKind::Aborted;
                assert_eq!(kept, if is_kept { on_failure } else { FailureAction::Deny }, "{name}");
                detail
            }
            (PendingAnswer::Unavailable { detail, on_failure: kept }, Fate::NoVerdict(..)) => {
                assert_eq!(kept, FailureAction::Deny, "{name}");
                detail
            }
            (PendingAnswer::TooLong { detail }, Fate::TooLong) => detail,
            (answer, _) => panic!("{name}: {answer:?}"),
        };
        assert!(detail.contains(says), "{name}: no {says:?} in {detail:?}");
        assert!(!detail.contains("a-test-key"), "{name}: {detail}");
    }
}

/// Tries every item of a table, several at once.
pub(crate) fn for_all<T: Sync>(items: &[T], test: impl Fn(&T) + Sync) {
    let next = AtomicUsize::new(0);
    thread::scope(|scope| {
        for _ in 0..WORKERS {
            scope.spawn(|| {
                while let Some(item) = items.get(next.fetch_add(1, Ordering::Relaxed)) {
                    test(item);
                }
            });
        }
    });
}

/// A port nobody listens at, and that nobody else can take while this lives: it is one end of a connection.
pub(crate) struct DeadPort {
    _listener: TcpListener,
    client: TcpStream,
}

impl DeadPort {
    pub(crate) fn new() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let client = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
        Self { _listener: listener, client }
    }

    pub(crate) fn url(&self) -> String {
        let address: SocketAddr = self.client.local_addr().unwrap();
        format!("http://{address}")
    }
}
