//! The wires models are spoken to over: told apart by path, read in [`Inquiry`], written as replies and errors.

mod error;
mod inquiry;
mod reply;

pub use inquiry::{ModelRequest, RequestedForm, RequestedStage};

pub(crate) use error::error_body;
pub(crate) use reply::{ModelReply, ReplyContent, ToolArguments, reply_body};
pub use reply::{ReportedTokens, StopReason};

/// A protocol models are spoken to with.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum WireProtocol {
    /// Anthropic's Messages: `/v1/messages`.
    Anthropic,
    /// `OpenAI`'s Responses: `/v1/responses`.
    Responses,
    /// Chat completions: `/v1/chat/completions`.
    Chat,
    /// Ollama's own: `/api/chat`.
    Ollama,
    /// Gemini's: `/v1beta/models/{model}:generateContent`.
    Gemini,
}

impl WireProtocol {
    /// All of them.
    pub const ALL: [Self; 5] = [Self::Anthropic, Self::Responses, Self::Chat, Self::Ollama, Self::Gemini];

    /// Returns the name scripts use for it.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Anthropic => "anthropic",
            Self::Responses => "responses",
            Self::Chat => "chat",
            Self::Ollama => "ollama",
            Self::Gemini => "gemini",
        }
    }

    /// Recognises a wire by the end of a path, so that any prefix may stand before it.
    pub fn of_path(path: &str) -> Option<Self> {
        let path = path.split_once('?').map_or(path, |(path, _)| path);
        if path.ends_with("/v1/messages") {
            Some(Self::Anthropic)
        } else if path.ends_with("/chat/completions") {
            Some(Self::Chat)
        } else if path.ends_with("/responses") {
            Some(Self::Responses)
        } else if path.ends_with("/api/chat") {
            Some(Self::Ollama)
        } else {
            gemini_model(path).map(|_| Self::Gemini)
        }
    }
}

/// Returns the model a path of Gemini's names.
fn gemini_model(path: &str) -> Option<&str> {
    let path = path.split_once('?').map_or(path, |(path, _)| path);
    let (_, model) = path.strip_suffix(":generateContent")?.rsplit_once("/models/")?;
    Some(model).filter(|model| !model.is_empty() && !model.contains('/'))
}

#[cfg(test)]
mod tests {
    use pretty_assertions::assert_eq;

    use super::*;

    #[test]
    fn a_wire_is_known_by_its_path_below_any_prefix() {
        let table = [
            ("/v1/messages", Some(WireProtocol::Anthropic)),
            ("/anthropic/v1/messages?beta=true", Some(WireProtocol::Anthropic)),
            ("/v1/responses", Some(WireProtocol::Responses)),
            ("/gateway/v1/chat/completions", Some(WireProtocol::Chat)),
            ("/api/chat", Some(WireProtocol::Ollama)),
            ("/v1beta/models/gemini-3.5-flash-lite:generateContent", Some(WireProtocol::Gemini)),
            ("/v1beta/models/:generateContent", None),
            ("/v1/messages/count_tokens", None),
            ("/", None),
        ];
        for (path, wire) in table {
            assert_eq!(WireProtocol::of_path(path), wire, "{path}");
        }
        assert_eq!(gemini_model("/x/models/m-1:generateContent?key=k"), Some("m-1"));
    }
}
