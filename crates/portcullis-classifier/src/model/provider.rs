//! Who serves models: names, addresses, and where the key comes from and goes to.

use std::fmt;
use std::str::FromStr;

use portcullis_core::closeness::find_closest;
use portcullis_core::visible;
use serde::Deserialize;

/// Who serves a model, and so which protocol is spoken.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ModelProvider {
    /// Anthropic's Messages API, and gateways that speak it.
    Anthropic,
    /// `OpenAI`'s Responses API.
    OpenAi,
    /// Any server of chat completions.
    Chat,
    /// Ollama's own API.
    Ollama,
    /// Gemini's `generateContent`.
    Gemini,
}

/// How a key is sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum KeyHeader {
    /// In a header of this name, as it is.
    Named(&'static str),
    /// As `Authorization: Bearer`.
    Bearer,
}

impl ModelProvider {
    /// All of them.
    pub const ALL: [Self; 5] = [Self::Anthropic, Self::OpenAi, Self::Chat, Self::Ollama, Self::Gemini];

    /// Returns its name in settings.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Anthropic => "anthropic",
            Self::OpenAi => "openai",
            Self::Chat => "chat",
            Self::Ollama => "ollama",
            Self::Gemini => "gemini",
        }
    }

    /// Returns the address it is asked at unless settings say otherwise; a chat server's must be named.
    ///
    /// As is the custom of each: the version is part of the address for `OpenAI` and chat servers, and of the path for
    /// the others.
    pub const fn default_base_url(self) -> Option<&'static str> {
        match self {
            Self::Anthropic => Some("https://api.anthropic.com"),
            Self::OpenAi => Some("https://api.openai.com/v1"),
            Self::Chat => None,
            Self::Ollama => Some("http://127.0.0.1:11434"),
            Self::Gemini => Some("https://generativelanguage.googleapis.com"),
        }
    }

    /// Returns the variable of the environment its key is in unless settings say otherwise.
    pub const fn default_key_variable(self) -> Option<&'static str> {
        match self {
            Self::Anthropic => Some("ANTHROPIC_API_KEY"),
            Self::OpenAi => Some("OPENAI_API_KEY"),
            Self::Gemini => Some("GEMINI_API_KEY"),
            Self::Chat | Self::Ollama => None,
        }
    }

    /// Says how its key is sent.
    pub const fn key_header(self) -> KeyHeader {
        match self {
            Self::Anthropic => KeyHeader::Named("x-api-key"),
            Self::Gemini => KeyHeader::Named("x-goog-api-key"),
            Self::OpenAi | Self::Chat | Self::Ollama => KeyHeader::Bearer,
        }
    }
}

impl fmt::Display for ModelProvider {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.as_str())
    }
}

impl FromStr for ModelProvider {
    type Err = String;

    fn from_str(name: &str) -> Result<Self, String> {
        if let Some(provider) = Self::ALL.into_iter().find(|provider| provider.as_str() == name) {
            return Ok(provider);
        }
        let names = Self::ALL.map(Self::as_str);
        let shown: String = name.chars().take(40).collect();
        let shown = visible(&shown);
        Err(match find_closest(name, names) {
            Some(near) => format!("there is no provider `{shown}`; did you mean `{near}`?"),
            None => format!("there is no provider `{shown}`; use one of {}", names.join(", ")),
        })
    }
}

#[cfg(test)]
mod tests {
    use pretty_assertions::assert_eq;

    use super::*;

    #[test]
    fn every_provider_is_found_by_its_name() {
        for provider in ModelProvider::ALL {
            assert_eq!(provider.as_str().parse::<ModelProvider>(), Ok(provider));
            let read: ModelProvider = serde_json::from_str(&format!("\"{provider}\"")).unwrap();
            assert_eq!(read, provider);
        }
    }

    #[test]
    fn a_name_that_is_none_comes_with_a_hint() {
        assert_eq!(
            "antropic".parse::<ModelProvider>(),
            Err("there is no provider `antropic`; did you mean `anthropic`?".to_owned())
        );
        assert_eq!(
            "Bedrock\u{202e}".parse::<ModelProvider>(),
            Err(
                "there is no provider `Bedrock\\u{202e}`; use one of anthropic, openai, chat, ollama, gemini"
                    .to_owned()
            )
        );
        assert!("".parse::<ModelProvider>().is_err());
        assert!("x".repeat(10_000).parse::<ModelProvider>().unwrap_err().len() < 200);
    }

    #[test]
    fn the_key_goes_where_each_provider_looks_for_it() {
        assert_eq!(ModelProvider::Anthropic.key_header(), KeyHeader::Named("x-api-key"));
        assert_eq!(ModelProvider::Gemini.key_header(), KeyHeader::Named("x-goog-api-key"));
        assert_eq!(ModelProvider::OpenAi.key_header(), KeyHeader::Bearer);
        assert_eq!(ModelProvider::Ollama.default_key_variable(), None);
        assert_eq!(ModelProvider::Chat.default_base_url(), None);
    }
}
