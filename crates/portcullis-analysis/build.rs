//! Compiles the command profiles of `data/` into tables.
//!
//! A profile that is not understood stops the build with the file and what is wrong.
#![expect(clippy::disallowed_methods, reason = "a build script reads the files it compiles")]

use std::collections::BTreeMap;
use std::error::Error;
use std::path::{Path, PathBuf};
use std::{env, fs};

use toml::{Table, Value};

#[path = "src/effect/act.rs"]
#[expect(dead_code, unreachable_pub, reason = "the build needs only the names of the acts")]
mod act;

use act::Act;

type Result<T> = std::result::Result<T, Box<dyn Error>>;

/// What an option may do to the reading of the rest, in the order the code numbers it.
const TWISTS: &[&str] = &["~dry", "~drop", "~instead", "~rest"];

const KEYS: &[&str] = &[
    "names",
    "summary",
    "does",
    "operands",
    "options",
    "sub",
    "style",
    "abbreviates",
    "other-options",
    "permutes",
    "reader",
    "example",
    "also",
];

fn main() -> Result<()> {
    println!("cargo::rerun-if-changed=data");
    println!("cargo::rerun-if-changed=src/effect/act.rs");
    let out = PathBuf::from(env::var("OUT_DIR")?);
    let mut data: Vec<u8> = Vec::new();
    for (folder, index_file) in [("data/commands", "commands.bin"), ("data/cmdlets", "cmdlets.bin")] {
        let mut places: BTreeMap<String, u32> = BTreeMap::new();
        for file in files(Path::new(folder))? {
            let read = compile(&file).map_err(|error| format!("{}: {error}", file.display()))?;
            let place = u32::try_from(data.len())?;
            data.extend(read.code);
            for name in read.names {
                if places.insert(name.clone(), place).is_some() {
                    return Err(format!("{}: `{name}` has another profile already", file.display()).into());
                }
            }
        }
        let mut index: Vec<u8> = Vec::new();
        for (name, place) in &places {
            index.extend(u32::try_from(data.len())?.to_le_bytes());
            index.extend(place.to_le_bytes());
            data.extend(short(name.as_bytes())?);
        }
        fs::write(out.join(index_file), index)?;
    }
    fs::write(out.join("profiles.bin"), data)?;
    Ok(())
}

/// Encodes a piece behind its length in one byte.
fn short(piece: &[u8]) -> Result<Vec<u8>> {
    let mut all = vec![u8::try_from(piece.len()).map_err(|_| format!("{} bytes are too many", piece.len()))?];
    all.extend(piece);
    Ok(all)
}

/// Encodes a piece behind its length in four bytes.
fn long(piece: &[u8]) -> Result<Vec<u8>> {
    let mut all = u32::try_from(piece.len())?.to_le_bytes().to_vec();
    all.extend(piece);
    Ok(all)
}

fn files(folder: &Path) -> Result<Vec<PathBuf>> {
    let mut files = Vec::new();
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        if path.extension().is_some_and(|extension| extension == "toml") {
            files.push(path);
        }
    }
    files.sort();
    Ok(files)
}

struct Compiled {
    names: Vec<String>,
    code: Vec<u8>,
}

fn compile(file: &Path) -> Result<Compiled> {
    let table: Table = fs::read_to_string(file)?.parse()?;
    let names = texts(&table, "names")?;
    if names.is_empty() {
        return Err("`names` is missing".into());
    }
    let summary = table.get("summary").and_then(Value::as_str).ok_or("`summary` is missing")?;
    if !table.contains_key("example") {
        return Err("there is no `[[example]]`".into());
    }
    let mut code = short(summary.as_bytes())?;
    code.extend(form(&table, Inherited::default())?);
    Ok(Compiled { names, code })
}

/// What a subcommand takes over from the program unless it says otherwise.
#[derive(Clone, Copy)]
struct Inherited<'a> {
    style: &'a str,
    abbreviates: bool,
    other_options: &'a str,
    permutes: bool,
}

impl Default for Inherited<'_> {
    fn default() -> Self {
        Self { style: "gnu", abbreviates: false, other_options: "unknown", permutes: true }
    }
}

fn form(table: &Table, inherited: Inherited<'_>) -> Result<Vec<u8>> {
    if let Some(key) = table.keys().find(|key| !KEYS.contains(&key.as_str())) {
        return Err(format!("the key `{key}` is not known").into());
    }
    let own = Inherited {
        style: text(table, "style", inherited.style),
        abbreviates: flag(table, "abbreviates", inherited.abbreviates),
        other_options: text(table, "other-options", inherited.other_options),
        permutes: flag(table, "permutes", inherited.permutes),
    };
    let style = match own.style {
        "gnu" => 0,
        "single-dash" => 1,
        "windows" => 2,
        other => return Err(format!("the style `{other}` is not known").into()),
    };
    let harmless_rest = match own.other_options {
        "harmless" => true,
        "unknown" => false,
        other => return Err(format!("`other-options` is `{other}`").into()),
    };
    let subcommands = subcommands(table, own)?;
    let says_something = ["does", "operands", "reader"].iter().any(|key| table.contains_key(*key));
    if subcommands.is_empty() && !says_something {
        return Err("neither `does` nor `operands` nor `reader` says what it does".into());
    }
    let does: Vec<u8> = texts(table, "does")?.iter().map(|name| act(name)).collect::<Result<_>>()?;
    let operands: Vec<[u8; 2]> =
        texts(table, "operands")?.iter().map(|text| slot(text)).collect::<Result<_>>()?;
    let mut options = Vec::new();
    for text in texts(table, "options")? {
        options.extend(option(&text)?);
    }
    let traits =
        style | u8::from(own.abbreviates) << 2 | u8::from(harmless_rest) << 3 | u8::from(own.permutes) << 4;
    let mut all = vec![traits];
    all.extend(short(text(table, "reader", "").as_bytes())?);
    all.extend(short(&does)?);
    all.extend(short(operands.as_flattened())?);
    all.extend(long(&options)?);
    all.extend(long(&subcommands)?);
    Ok(all)
}

/// Turns `[sub."remote add"]` into forms inside forms.
fn subcommands(table: &Table, inherited: Inherited<'_>) -> Result<Vec<u8>> {
    let Some(subs) = table.get("sub") else {
        return Ok(Vec::new());
    };
    let subs = subs.as_table().ok_or("`sub` is not a table")?;
    let mut nested: BTreeMap<String, Table> = BTreeMap::new();
    for (key, value) in subs {
        let own = value.as_table().ok_or_else(|| format!("`sub.{key}` is not a table"))?;
        let mut names = vec![key.clone()];
        names.extend(texts(own, "also")?);
        // Further names are dealt with here, whatever level they stand on.
        let mut own = own.clone();
        let _ = own.remove("also");
        for name in names {
            add(&mut nested, &name, &own).map_err(|error| format!("sub.{key}: {error}"))?;
        }
    }
    let mut forms = Vec::new();
    for (name, own) in &nested {
        let form = form(own, inherited).map_err(|error| format!("sub.{name}: {error}"))?;
        forms.extend(short(name.as_bytes())?);
        forms.extend(long(&form)?);
    }
    Ok(forms)
}

fn add(nested: &mut BTreeMap<String, Table>, name: &str, own: &Table) -> Result<()> {
    match name.split_once(' ') {
        None => {
            let entry = nested.entry(name.to_owned()).or_default();
            for (key, value) in own {
                if key == "sub" && entry.contains_key("sub") {
                    return Err("its subcommands stand in two places".into());
                }
                entry.insert(key.clone(), value.clone());
            }
        }
        Some((first, rest)) => {
            let entry = nested.entry(first.to_owned()).or_default();
            let inner = entry.entry("sub").or_insert_with(|| Value::Table(Table::new()));
            let inner = inner.as_table_mut().ok_or("`sub` is not a table")?;
            if inner.insert(rest.to_owned(), Value::Table(own.clone())).is_some() {
                return Err(format!("`{name}` stands there twice").into());
            }
        }
    }
    Ok(())
}

fn act(name: &str) -> Result<u8> {
    let place = Act::ALL.iter().position(|act| act.name() == name);
    Ok(u8::try_from(place.ok_or_else(|| format!("there is no act `{name}`"))?)?)
}

fn role(text: &str) -> Result<u8> {
    Ok(match text {
        "text" => 0,
        "target" => 1,
        "data" => 2,
        "command" => 3,
        name => act(name)?.checked_add(4).ok_or("there are too many acts")?,
    })
}

fn slot(text: &str) -> Result<[u8; 2]> {
    let (name, is_many) = text.strip_suffix('*').map_or((text, false), |name| (name, true));
    Ok([role(name)?, u8::from(is_many)])
}

/// Reads `-o --output =write !act ~twist`.
fn option(text: &str) -> Result<Vec<u8>> {
    let (mut spellings, mut value, mut acts, mut twist) = (Vec::new(), [0, 0], Vec::new(), 0);
    for word in text.split_whitespace() {
        if let Some(name) = word.strip_prefix("=?") {
            value = [2, role(name)?];
        } else if let Some(name) = word.strip_prefix('=') {
            value = [1, role(name)?];
        } else if let Some(name) = word.strip_prefix('!') {
            acts.push(act(name)?);
        } else if word.starts_with('~') {
            let place = TWISTS.iter().position(|name| *name == word);
            twist = u8::try_from(place.ok_or_else(|| format!("`{word}` in `{text}`"))? + 1)?;
        } else if word.starts_with(['-', '/', '+']) {
            spellings.extend(short(word.as_bytes())?);
        } else {
            return Err(format!("`{word}` in the option `{text}` is not understood").into());
        }
    }
    if spellings.is_empty() {
        return Err(format!("the option `{text}` has no spelling").into());
    }
    let mut all = long(&spellings)?;
    all.extend(value);
    all.extend(short(&acts)?);
    all.push(twist);
    Ok(all)
}

fn texts(table: &Table, key: &str) -> Result<Vec<String>> {
    let Some(value) = table.get(key) else {
        return Ok(Vec::new());
    };
    let list = value.as_array().ok_or_else(|| format!("`{key}` is not a list"))?;
    let text = |item: &Value| item.as_str().map(str::to_owned);
    list.iter()
        .map(text)
        .collect::<Option<_>>()
        .ok_or_else(|| format!("`{key}` holds something else than text").into())
}

fn text<'a>(table: &'a Table, key: &str, default: &'a str) -> &'a str {
    table.get(key).and_then(Value::as_str).unwrap_or(default)
}

fn flag(table: &Table, key: &str, default: bool) -> bool {
    table.get(key).and_then(Value::as_bool).unwrap_or(default)
}
