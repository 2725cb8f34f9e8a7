//! How the arguments of wrappers are laid out: what stands between a wrapper's name and the command it runs.

use std::fmt::Write;

use toml::de::{DeTable, DeValue};

use super::Result;
use super::source::{Item, Source, rust_list};

const KEYS: &[&str] =
    &["flags", "valued", "attached", "operands", "assigns", "text", "directory", "joins", "shell"];

/// Makes a list of all layouts, and a constant of each that is asked for by its name.
pub(super) fn compile(source: &Source) -> Result<String> {
    let mut all = String::new();
    let mut named = String::new();
    for (section, item) in source.table()? {
        let wrapping = match section.get_ref().as_ref() {
            "transparent" => "Transparent",
            "changing" | "batch" => "Changing",
            _ => return source.error(&section, "sections are `transparent`, `changing` and `batch`"),
        };
        for (key, item) in source.inner(&item)? {
            let (name, subcommand) = match key.get_ref().split_once(' ') {
                Some((name, subcommand)) => (name, format!("Some({subcommand:?})")),
                None => (key.get_ref().as_ref(), "None".to_owned()),
            };
            let head = format!("name: {name:?}, subcommand: {subcommand}, wrapping: Wrapping::{wrapping}");
            let forms: Vec<&Item<'_>> = match item.get_ref() {
                DeValue::Array(forms) => forms.iter().collect(),
                _ => vec![item],
            };
            for form in forms {
                let layout = format!("WrapperLayout {{ {head}, {} }}", fields(source, source.inner(form)?)?);
                if section.get_ref() == "batch" {
                    let name = name.to_uppercase();
                    writeln!(named, "pub(super) const {name}: WrapperLayout = {layout};")?;
                } else {
                    writeln!(all, "{layout},")?;
                }
            }
        }
    }
    Ok(format!("pub(super) const WRAPPERS: &[WrapperLayout] = &[\n{all}];\n{named}"))
}

fn fields(source: &Source, table: &DeTable<'_>) -> Result<String> {
    if let Some(key) = table.keys().find(|key| !KEYS.contains(&key.get_ref().as_ref())) {
        return source.error(key, format!("`{}` is not one of {}", key.get_ref(), KEYS.join(", ")));
    }
    let words = |name| table.get(name).map_or(Ok(Vec::new()), |item| source.words(item));
    let is_set = |name| table.get(name).is_some_and(|item| item.get_ref().as_bool() == Some(true));
    let (flags, flags_long) = by_length(&words("flags")?);
    let (valued, valued_long) = by_length(&words("valued")?);
    let operands = match table.get("operands").map(|item| (item, item.get_ref())) {
        None => "0".to_owned(),
        Some((_, DeValue::Integer(number))) => number.as_str().to_owned(),
        Some((_, DeValue::String(text))) if text == "all" => "usize::MAX".to_owned(),
        Some((item, _)) => return source.error(item, "`operands` is a number or `all`"),
    };
    Ok(format!(
        "flags: {flags:?}, flags_long: {flags_long}, valued: {valued:?}, valued_long: {valued_long}, \
         attached: {:?}, operands: {operands}, assigns: {}, text: {}, directory: {}, joins: {}, starts_shell: {}",
        words("attached")?.concat(),
        is_set("assigns"),
        rust_list(&words("text")?),
        rust_list(&words("directory")?),
        is_set("joins"),
        is_set("shell"),
    ))
}

/// Tells letters from long options: `fpv --foreground`.
fn by_length(words: &[&str]) -> (String, String) {
    let long: Vec<&str> = words.iter().filter_map(|word| word.strip_prefix("--")).collect();
    let short: Vec<&str> = words.iter().filter(|word| !word.starts_with("--")).copied().collect();
    (short.concat(), rust_list(&long))
}
