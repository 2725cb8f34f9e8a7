//! Posting JSON to an address that settings name, with headers that may take variables of the environment.

use std::time::Instant;

use portcullis_classifier::provider::WireRequest;
use portcullis_classifier::transport::{BaseUrl, CancelFlag, ProviderConnection};
use serde_json::Value;

/// Posts a value to an address and returns what a success says. The error says what the one who was asked did, as the
/// rest of a sentence.
pub fn post(
    (url, headers, variables): (&str, &[(String, String)], &[String]),
    body: Value,
    deadline: Instant,
) -> Result<Vec<u8>, String> {
    let (base, path) = split_path(url);
    let base = BaseUrl::parse(base).map_err(|what| format!("has an address that is not used: {what}"))?;
    let headers = headers.iter().map(|(name, value)| Ok((name.clone().into(), filled(value, variables)?)));
    let headers = headers.collect::<Result<Vec<_>, String>>()?;
    let request = WireRequest { path: path.to_owned(), headers, body };
    let response = ProviderConnection::new(base)
        .send(&request, deadline, &CancelFlag::new())
        .map_err(|fault| format!("could not be asked: {}", fault.message))?;
    match response.status {
        200..=299 => Ok(response.body),
        status => Err(format!("answered with status {status}")),
    }
}

/// Splits an address where its path begins.
fn split_path(url: &str) -> (&str, &str) {
    let start = url.find("://").map_or(0, |at| at + 3);
    let end = url.get(start..).and_then(|rest| rest.find('/')).map_or(url.len(), |at| start + at);
    url.split_at_checked(end).unwrap_or((url, ""))
}

/// Puts variables into the value of a header: `$NAME` and `${NAME}` of those that may be named.
fn filled(value: &str, variables: &[String]) -> Result<String, String> {
    let mut out = String::new();
    let mut rest = value;
    while let Some((before, after)) = rest.split_once('$') {
        out.push_str(before);
        let is_other = |character: char| !character.is_ascii_alphanumeric() && character != '_';
        let bare = || after.split_at_checked(after.find(is_other)?);
        let braced = after.strip_prefix('{').and_then(|braced| braced.split_once('}'));
        let (name, end) = braced.or_else(bare).unwrap_or((after, ""));
        if !variables.iter().any(|variable| variable == name) {
            return Err(format!(
                "has a header with the variable `{name}`, which `allowedEnvVars` does not name"
            ));
        }
        out.push_str(
            &std::env::var(name).map_err(|_| format!("needs the variable `{name}`, which is not set"))?,
        );
        rest = end;
    }
    out.push_str(rest);
    Ok(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn headers_take_only_the_variables_they_may() {
        let names = vec!["PATH".to_owned()];
        let path = std::env::var("PATH").unwrap();
        assert_eq!(filled("Bearer $PATH!", &names), Ok(format!("Bearer {path}!")));
        assert_eq!(filled("${PATH}x", &names), Ok(format!("{path}x")));
        assert!(filled("$HOME", &names).unwrap_err().contains("`HOME`"));
        assert_eq!(filled("plain", &[]), Ok("plain".to_owned()));
    }

    #[test]
    fn addresses_are_split_where_the_path_begins() {
        assert_eq!(split_path("https://a.example/b/c?d"), ("https://a.example", "/b/c?d"));
        assert_eq!(split_path("https://a.example"), ("https://a.example", ""));
    }
}
