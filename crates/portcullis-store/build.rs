//! Compiles `data/secret-forms.toml` into tables.
//!
//! A form that is not understood stops the build and says what is wrong with it.

use std::error::Error;
use std::fmt::Write as _;
use std::path::PathBuf;
use std::{env, fs};

use serde::Deserialize;

#[path = "../portcullis-core/src/secret_form.rs"]
#[expect(
    dead_code,
    unreachable_pub,
    reason = "the build only reads forms, and the library offers them to users"
)]
mod secret_form;

use secret_form::{SecretForm, SecretPart};

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Tables {
    token: Vec<Token>,
    option: Vec<CommandOption>,
    piped: Vec<Piped>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Token {
    kind: String,
    forms: Vec<String>,
    #[serde(default)]
    place: Place,
    #[serde(default)]
    look: Look,
    #[serde(default)]
    keep: bool,
}

/// Where a token counts.
#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Place {
    #[default]
    Start,
    Anywhere,
}

/// What a token must look like besides.
#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Look {
    #[default]
    Any,
    Mixed,
    Random,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct CommandOption {
    programs: Vec<String>,
    option: String,
    takes: String,
    mark: Option<char>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Piped {
    programs: Vec<String>,
    word: Option<String>,
    mark: Option<char>,
}

fn main() -> Result<(), Box<dyn Error>> {
    let data = "data/secret-forms.toml";
    for input in [data, "../portcullis-core/src/secret_form.rs"] {
        println!("cargo::rerun-if-changed={input}");
    }
    let tables: Tables = toml::from_str(&fs::read_to_string(data)?)?;
    let mut out = String::new();
    write_tokens(&mut out, &tables.token)?;
    write_options(&mut out, &tables.option)?;
    write_piped(&mut out, &tables.piped)?;
    let mut programs: Vec<&String> = tables.option.iter().flat_map(|option| &option.programs).collect();
    programs.extend(tables.piped.iter().flat_map(|piped| &piped.programs));
    programs.sort();
    programs.dedup();
    writeln!(out, "pub(super) static PROGRAMS: &[&str] = &{programs:?};")?;
    fs::write(PathBuf::from(env::var("OUT_DIR")?).join("secret_forms.rs"), out)?;
    Ok(())
}

/// Writes the tokens by the first bytes of their text, the longer text first where one begins as another.
fn write_tokens(out: &mut String, tokens: &[Token]) -> Result<(), Box<dyn Error>> {
    let mut rows = Vec::new();
    for token in tokens {
        for text in &token.forms {
            let form = SecretForm::parse(text).map_err(|what| format!("`{text}` {what}"))?;
            rows.push((form, token));
        }
    }
    rows.sort_by_key(|(form, _)| {
        let text = form.text.clone().into_bytes();
        (text.first().copied(), text.get(1).copied(), usize::MAX - text.len(), text)
    });
    out.push_str("pub(super) static TOKENS: &[TokenForm] = &[\n");
    for (SecretForm { before, text, rest }, token) in rows {
        let before = before.map(|(class, least)| format!("(SecretBytes::{class:?}, {least})"));
        let before = before.map_or_else(|| "None".to_owned(), |before| format!("Some({before})"));
        let rest: Vec<String> = rest.iter().map(part).collect();
        let Token { kind, place, look, keep, .. } = token;
        writeln!(
            out,
            "TokenForm {{ kind: {kind:?}, before: {before}, text: {text:?}, rest: &[{}], place: TokenPlace::{place:?}, \
             look: TokenLook::{look:?}, keeps_text: {keep} }},",
            rest.join(", ")
        )?;
    }
    out.push_str("];\n");
    Ok(())
}

fn part(part: &SecretPart) -> String {
    match part {
        SecretPart::Text(text) => format!("TokenPart::Text({text:?})"),
        SecretPart::Bytes { class, least, is_exact } => {
            format!("TokenPart::Bytes(SecretBytes::{class:?}, {least}, {is_exact})")
        }
    }
}

fn write_options(out: &mut String, options: &[CommandOption]) -> Result<(), Box<dyn Error>> {
    out.push_str("pub(super) static OPTIONS: &[(&[&str], &str, SecretOption)] = &[\n");
    for CommandOption { programs, option, takes, mark } in options {
        let takes = match (takes.as_str(), mark) {
            ("glued", None) => "Glued".to_owned(),
            ("next", None) => "Next".to_owned(),
            ("next-of-login", None) => "NextOfLogin".to_owned(),
            ("next-alone", None) => "NextAlone".to_owned(),
            ("prefix", None) => "Prefix".to_owned(),
            ("cookie", None) => "Cookie".to_owned(),
            ("after", Some(mark)) if mark.is_ascii() => format!("After({})", u32::from(*mark)),
            _ => return Err(format!("the option `{option}` takes `{takes}`, which is not known").into()),
        };
        writeln!(out, "(&{programs:?}, {option:?}, SecretOption::{takes}),")?;
    }
    out.push_str("];\n");
    Ok(())
}

fn write_piped(out: &mut String, all: &[Piped]) -> Result<(), Box<dyn Error>> {
    out.push_str("pub(super) static PIPED: &[PipedSecret] = &[\n");
    for Piped { programs, word, mark } in all {
        let word = word.as_deref().unwrap_or_default();
        let mark = mark.map(u32::from);
        writeln!(out, "PipedSecret {{ programs: &{programs:?}, words: {word:?}, mark: {mark:?} }},")?;
    }
    out.push_str("];\n");
    Ok(())
}
