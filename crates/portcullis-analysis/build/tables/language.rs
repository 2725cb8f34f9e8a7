//! What a language's libraries do: names by what a call of them does and gives, and lists of what is harmless.
//!
//! `docs/development/language-tables.md` describes the format.

use std::collections::BTreeMap;

use toml::de::DeTable;

use super::Result;
use super::source::{Item, Key, Source, rust_list};
use crate::act::Act;

/// What a meaning may be wrong about; the caller knows where it stands.
type Parsed = std::result::Result<String, String>;

/// Makes a `LanguageTable` of a file, named after it.
pub(super) fn compile(source: &Source) -> Result<String> {
    let mut table = source.table()?;
    let mut fields = vec![format!("language: Language::{}", take_text(source, &mut table, "language")?)];
    for name in ["keywords", "imports", "inner", "standard"] {
        fields.push(take_list(source, &mut table, name)?);
    }
    let harmless = take(source, &mut table, "harmless")?;
    let mut harmless = source.inner(&harmless)?.clone();
    for name in ["modules", "packages", "functions", "methods"] {
        fields.push(take_list(source, &mut harmless, name)?);
    }
    if let Some((key, _)) = harmless.iter().next() {
        return source.error(key, format!("`{}` is no list of harmless things", key.get_ref()));
    }
    fields.push(format!("rows: &[{}]", rows(source, &table)?));
    let name = source.name().to_uppercase();
    Ok(format!("pub(super) static {name}: LanguageTable = LanguageTable {{ {} }};\n", fields.join(",\n")))
}

fn take<'a>(source: &Source, table: &mut DeTable<'a>, name: &str) -> Result<Item<'a>> {
    table.remove(name).ok_or_else(|| source.lacks(name))
}

fn take_text(source: &Source, table: &mut DeTable<'_>, name: &str) -> Result<String> {
    let item = take(source, table, name)?;
    match item.get_ref().as_str() {
        Some(text) => Ok(text.to_owned()),
        None => source.error(&item, "a text is wanted"),
    }
}

/// Makes a field of a list, sorted because it is searched.
fn take_list(source: &Source, table: &mut DeTable<'_>, name: &str) -> Result<String> {
    let item = take(source, table, name)?;
    let mut words = source.words(&item)?;
    words.sort_unstable();
    Ok(format!("{name}: {}", rust_list(&words)))
}

/// Makes rows of all that is left: tables by topic, in which each meaning has its names. They are sorted because they are
/// searched.
fn rows(source: &Source, topics: &DeTable<'_>) -> Result<String> {
    let mut rows: BTreeMap<&str, String> = BTreeMap::new();
    for topic in topics.values() {
        for (key, item) in source.inner(topic)? {
            let meaning = meaning_of(source, key)?;
            for name in source.words(item)? {
                if rows.insert(name, meaning.clone()).is_some() {
                    return source.error(item, format!("`{name}` has another meaning already"));
                }
            }
        }
    }
    let rows: Vec<String> =
        rows.iter().map(|(name, meaning)| format!("LibraryRow {{ name: {name:?}, {meaning} }}")).collect();
    Ok(rows.join(",\n"))
}

fn meaning_of(source: &Source, key: &Key<'_>) -> Result<String> {
    let text = key.get_ref();
    let (what, result) = text.split_once("->").unwrap_or((text, ""));
    let parsed = does(what.trim()).and_then(|does| {
        let gives = gives(result.trim())?;
        Ok(format!("does: Does::{does}, gives: Gives::{gives}"))
    });
    match parsed {
        Ok(meaning) => Ok(meaning),
        Err(what) => source.error(key, what),
    }
}

/// Reads what a call does.
fn does(text: &str) -> Parsed {
    if let Some((first, second)) = text.split_once(" + ") {
        let (first, first_on) = act(first)?;
        let (second, second_on) = act(second)?;
        return Ok(format!("Both({first}, {first_on}, {second}, {second_on})"));
    }
    let (word, rest) = text.split_once(' ').unwrap_or((text, ""));
    Ok(match (word, rest) {
        ("" | "nothing", "") => "Nothing".to_owned(),
        ("perl-open", "") => "PerlOpen".to_owned(),
        ("command", "") => "Command".to_owned(),
        ("spawn", "") => "Spawn".to_owned(),
        ("system", "") => "System".to_owned(),
        ("terminal", "") => "Terminal".to_owned(),
        ("import", "") => "Import".to_owned(),
        ("variables", "") => "Variables".to_owned(),
        ("fork", "") => "Fork".to_owned(),
        ("redirect", "") => "Redirect".to_owned(),
        ("callback", "") => "Callback".to_owned(),
        ("member", "") => "Member".to_owned(),
        ("gap", "") => "Gap".to_owned(),
        ("code", "last") => "Code(usize::MAX)".to_owned(),
        ("open", mode) => format!("Open({})", place(mode.strip_prefix("mode ").unwrap_or(mode))?),
        ("shell", at) => format!("Shell({})", place(at)?),
        ("words", at) => format!("Words({})", place(at)?),
        ("code", at) => format!("Code({})", place(at)?),
        ("sql", at) => format!("Sql({})", place(at)?),
        ("request", at) => format!("Request({})", place(at)?),
        _ => {
            let (act, on) = act(text)?;
            format!("Act({act}, {on})")
        }
    })
}

/// Reads an act and what it is done to.
fn act(text: &str) -> std::result::Result<(String, String), String> {
    let (name, target) = text.split_once(' ').unwrap_or((text, ""));
    let act =
        Act::find(name).ok_or_else(|| format!("`{name}` is neither an act nor another thing a call does"))?;
    let on = match target.split_once(' ').unwrap_or((target, "")) {
        ("", "") => "Nowhere".to_owned(),
        ("files", "") => "Paths".to_owned(),
        ("self", "") => "Own".to_owned(),
        ("file", "named") => "PathIfNamed".to_owned(),
        ("file", at) if at.ends_with('?') => format!("PathIfGiven({})", place(at.trim_end_matches('?'))?),
        ("file", at) => format!("Path({})", place(at)?),
        ("host", "?") => "Host(usize::MAX)".to_owned(),
        ("host", at) => format!("Host({})", place(at)?),
        ("name", at) => format!("Name({})", place(at)?),
        _ => match target.strip_prefix('"').and_then(|target| target.strip_suffix('"')) {
            Some(fixed) => format!("Fixed({fixed:?})"),
            None => return Err(format!("`{target}` is nothing that an act is done to")),
        },
    };
    Ok((format!("Act::{act:?}"), format!("On::{on}")))
}

/// Reads what a call gives back.
fn gives(text: &str) -> Parsed {
    Ok(match text.split_once(' ').unwrap_or((text, "")) {
        ("", "") => "Unknown".to_owned(),
        ("joined", "") => "Joined".to_owned(),
        ("self", "joined") => "OwnJoined".to_owned(),
        ("below", "self") => "Below".to_owned(),
        ("hidden", "") => "Hidden".to_owned(),
        ("module", "") => "Module".to_owned(),
        ("member", "") => "Member".to_owned(),
        ("home", "") => "Home".to_owned(),
        ("same", at) => format!("Same({})", place(at)?),
        ("base64", at) => format!("Base64({})", place(at)?),
        ("hex", at) => format!("Hex({})", place(at)?),
        ("a", kind) if !kind.contains(' ') => format!("Some({kind:?})"),
        (kind, "of 1") => format!("Kind({kind:?})"),
        (kind, "of self") => format!("Own({kind:?})"),
        _ => return Err(format!("`{text}` is nothing that a call gives")),
    })
}

/// Reads the place of an argument; the first is 1.
fn place(text: &str) -> std::result::Result<usize, String> {
    let place = text.parse::<usize>().ok().and_then(|place| place.checked_sub(1));
    place.ok_or_else(|| format!("`{text}` is not the place of an argument"))
}
