//! From the text of a profile file to the bytes that `encoded` reads, with the place of whatever is wrong.
//!
//! The build script includes this file to compile `data/`, and the library compiles the files of users with it, so that
//! both understand the same format. `docs/development/command-profiles.md` describes it. Nothing is guessed: a key, an
//! act or a word that is not known is an error, and a file with an error gives no profile at all.

use std::collections::BTreeMap;
use std::fmt;
use std::ops::Range;

use toml::Spanned;
use toml::de::{DeArray, DeTable, DeValue};

use super::Act;

/// One body of a file with the programs that have it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CompiledProfile {
    /// The names it is for, each with what that program is for.
    pub names: Vec<ProgramName>,
    /// How arguments are read, encoded.
    pub(super) form: Vec<u8>,
    /// What the file says certain commands do.
    pub examples: Vec<ProfileExample>,
}

/// A name a program is started by.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProgramName {
    /// The name without directory.
    pub name: String,
    /// What the program is for, in a few words.
    pub summary: String,
    /// Where in the text the name stands.
    pub at: usize,
}

/// A command line with the effects it must have.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProfileExample {
    /// The command line.
    pub command: String,
    /// Act and target as written, in any order.
    pub effects: Vec<String>,
    /// Where in the text the command stands.
    pub at: usize,
}

/// What is wrong with a profile file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProfileError {
    /// The line, counted from one.
    pub line: usize,
    /// The column in characters, counted from one.
    pub column: usize,
    /// What is wrong.
    pub message: String,
}

impl ProfileError {
    /// Makes an error of a place in a text.
    pub fn at(text: &str, at: usize, message: impl Into<String>) -> Self {
        let before = text.get(..at).unwrap_or(text);
        let line_start = before.rfind('\n').map_or(0, |end| end + 1);
        Self {
            line: before.matches('\n').count() + 1,
            column: before.get(line_start..).unwrap_or_default().chars().count() + 1,
            message: message.into(),
        }
    }
}

impl fmt::Display for ProfileError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}:{}: {}", self.line, self.column, self.message)
    }
}

impl std::error::Error for ProfileError {}

/// Subcommands inside subcommands that are read; the encoding is walked by recursion.
const DEPTH_LIMIT: usize = 12;

/// What an option may do to the reading of the rest, in the order the code numbers it.
const TWISTS: &[&str] = &["~dry", "~drop", "~instead", "~rest"];

/// The parameters every advanced function of PowerShell takes, which the style `cmdlet` adds.
const CMDLET_OPTIONS: &[&str] = &[
    "-ErrorAction -ea =text",
    "-WarningAction -wa =text",
    "-InformationAction -infa =text",
    "-ProgressAction -proga =text",
    "-ErrorVariable -ev =text",
    "-WarningVariable -wv =text",
    "-InformationVariable -iv =text",
    "-OutVariable -ov =unknown",
    "-OutBuffer -ob =text",
    "-PipelineVariable -pv =unknown",
];

/// Keys that what is inside takes over: entries from the file, subcommands from the program.
const HANDED_DOWN: &[&str] = &["style", "abbreviates", "other-options", "permutes"];

/// Further keys of a program or subcommand.
const BODY: &[&str] =
    &["does", "operands", "options", "switches", "values", "optional-values", "sub", "reader"];

/// Further keys of a program.
const PROGRAM: &[&str] = &["names", "summary", "example"];

/// What is wrong, and the byte at which it stands.
struct Fault {
    at: usize,
    message: String,
}

type Result<T> = std::result::Result<T, Fault>;

fn fault<T>(span: &Range<usize>, message: impl Into<String>) -> Result<T> {
    Err(Fault { at: span.start, message: message.into() })
}

/// Compiles the text of a profile file.
///
/// # Errors
///
/// Says what is not understood, and where.
pub fn compile(text: &str) -> std::result::Result<Vec<CompiledProfile>, ProfileError> {
    let file = DeTable::parse(text).map_err(|error| {
        let at = error.span().map_or(0, |span| span.start);
        ProfileError::at(text, at, error.message().lines().collect::<Vec<_>>().join(", "))
    })?;
    profiles(file.get_ref()).map_err(|fault| ProfileError::at(text, fault.at, fault.message))
}

fn profiles(file: &DeTable<'_>) -> Result<Vec<CompiledProfile>> {
    let inherited = Inherited { style: "gnu", abbreviates: false, other_options: 0, permutes: true };
    let Some(programs) = file.get("program") else {
        return Ok(vec![program(file, &(0..0), inherited)?]);
    };
    only(file, &[HANDED_DOWN, &["program"]])?;
    let own = inherited.changed_by(file)?;
    let entries = array(programs, "program")?.iter();
    entries.map(|entry| program(table(entry, "program")?, &entry.span(), own)).collect()
}

fn program(own: &DeTable<'_>, span: &Range<usize>, inherited: Inherited<'_>) -> Result<CompiledProfile> {
    only(own, &[HANDED_DOWN, BODY, PROGRAM])?;
    let names = names(own, span)?;
    let examples = examples(own)?;
    if examples.is_empty() {
        return fault(span, "there is no `[[example]]`");
    }
    Ok(CompiledProfile { names, form: form(own, span, inherited, 0)?, examples })
}

/// Reads `names` with `summary`, or a table of summaries with the names each is for.
fn names(own: &DeTable<'_>, span: &Range<usize>) -> Result<Vec<ProgramName>> {
    let Some(listed) = own.get("names") else {
        return fault(span, "`names` is missing");
    };
    let mut groups: Vec<(&str, &Spanned<DeValue<'_>>)> = Vec::new();
    if let Some(table) = listed.get_ref().as_table() {
        if let Some((key, _)) = own.get_key_value("summary") {
            return fault(&key.span(), "the table `names` has the summaries already");
        }
        groups.extend(table.iter().map(|(summary, names)| (summary.get_ref().as_ref(), names)));
    } else {
        let Some(summary) = own.get("summary") else {
            return fault(span, "`summary` is missing");
        };
        groups.push((text(summary, "summary")?, listed));
    }
    let mut all = Vec::new();
    for (summary, names) in groups {
        for name in array(names, "names")? {
            let (at, name) = (name.span(), text(name, "names")?);
            let is_whole = !name.is_empty() && !name.contains(|letter: char| letter.is_whitespace());
            if !is_whole || summary.is_empty() || name.len().max(summary.len()) > usize::from(u8::MAX) {
                return fault(&at, format!("`{name}` cannot be a name, or its summary is none"));
            }
            all.push(ProgramName { name: name.to_owned(), summary: summary.to_owned(), at: at.start });
        }
    }
    if all.is_empty() { fault(&listed.span(), "`names` is empty") } else { Ok(all) }
}

fn examples(own: &DeTable<'_>) -> Result<Vec<ProfileExample>> {
    let Some(listed) = own.get("example") else {
        return Ok(Vec::new());
    };
    let example = |entry: &Spanned<DeValue<'_>>| {
        let own = table(entry, "example")?;
        only(own, &[&["command", "effects"]])?;
        let (Some(command), true) = (own.get("command"), own.contains_key("effects")) else {
            return fault(&entry.span(), "an example has `command` and `effects`");
        };
        let effects = texts(own, "effects")?.into_iter().map(|(_, effect)| effect.to_owned()).collect();
        let at = command.span().start;
        Ok(ProfileExample { command: text(command, "command")?.to_owned(), effects, at })
    };
    array(listed, "example")?.iter().map(example).collect()
}

/// What a form takes over from what is around it unless it says otherwise.
#[derive(Clone, Copy)]
struct Inherited<'a> {
    style: &'a str,
    abbreviates: bool,
    other_options: u8,
    permutes: bool,
}

impl<'a> Inherited<'a> {
    fn changed_by(self, own: &'a DeTable<'_>) -> Result<Self> {
        let mut changed = self;
        if let Some(style) = own.get("style") {
            changed.style = text(style, "style")?;
            if !matches!(changed.style, "gnu" | "single-dash" | "windows" | "cmdlet") {
                return fault(&style.span(), format!("the style `{}` is not known", changed.style));
            }
        }
        if let Some(rest) = own.get("other-options") {
            changed.other_options = match text(rest, "other-options")? {
                "unknown" => 0,
                "harmless" => 1,
                "common" => 2,
                "parameters" => 3,
                other => return fault(&rest.span(), format!("`other-options` cannot be `{other}`")),
            };
        }
        for (key, value) in [("abbreviates", &mut changed.abbreviates), ("permutes", &mut changed.permutes)] {
            if let Some(given) = own.get(key) {
                let Some(given) = given.get_ref().as_bool() else {
                    return fault(&given.span(), format!("`{key}` is `true` or `false`"));
                };
                *value = given;
            }
        }
        Ok(changed)
    }
}

fn form(own: &DeTable<'_>, span: &Range<usize>, inherited: Inherited<'_>, depth: usize) -> Result<Vec<u8>> {
    let handed = inherited.changed_by(own)?;
    let style = match handed.style {
        "single-dash" => 1,
        "windows" | "cmdlet" => 2,
        _ => 0,
    };
    // A subcommand understands the options of its program, so it does not repeat them.
    let below =
        Inherited { style: if handed.style == "cmdlet" { "windows" } else { handed.style }, ..handed };
    let subcommands = subcommands(own, span, below, depth)?;
    if subcommands.is_empty() && !["does", "operands", "reader"].iter().any(|key| own.contains_key(*key)) {
        return fault(span, "neither `does` nor `operands` nor `reader` says what it does");
    }
    let does: Vec<u8> =
        texts(own, "does")?.into_iter().map(|(at, name)| act(&at, name)).collect::<Result<_>>()?;
    let operands: Vec<[u8; 2]> =
        texts(own, "operands")?.into_iter().map(|(at, text)| slot(&at, text)).collect::<Result<_>>()?;
    let mut options = Vec::new();
    for (at, text) in texts(own, "options")? {
        options.extend(option(&at, text)?);
    }
    for (key, meaning) in [("switches", ""), ("values", " =text"), ("optional-values", " =?text")] {
        let words = own.get(key).map_or(Ok(""), |words| text(words, key))?;
        for word in words.split_whitespace() {
            options.extend(option(span, &format!("{word}{meaning}"))?);
        }
    }
    for text in CMDLET_OPTIONS.iter().filter(|_| handed.style == "cmdlet") {
        options.extend(option(span, text)?);
    }
    let traits = style
        | u8::from(handed.abbreviates) << 2
        | handed.other_options << 3
        | u8::from(handed.permutes) << 5;
    let reader = own.get("reader").map_or(Ok(""), |reader| text(reader, "reader"))?;
    let mut all = vec![traits];
    all.extend(short(span, reader.as_bytes())?);
    all.extend(short(span, &does)?);
    all.extend(short(span, operands.as_flattened())?);
    all.extend(long(span, &options)?);
    all.extend(long(span, &subcommands)?);
    Ok(all)
}

/// Subcommands by their first word, with where they begin and what is said of them.
type Nested<'i> = BTreeMap<String, (Range<usize>, DeTable<'i>)>;

/// Turns `[sub."remote add"]` into forms inside forms.
fn subcommands(
    own: &DeTable<'_>,
    span: &Range<usize>,
    inherited: Inherited<'_>,
    depth: usize,
) -> Result<Vec<u8>> {
    let Some(subs) = own.get("sub") else {
        return Ok(Vec::new());
    };
    if depth == DEPTH_LIMIT {
        return fault(span, format!("there are more than {DEPTH_LIMIT} subcommands inside each other"));
    }
    let mut nested = Nested::new();
    for (key, value) in table(subs, "sub")? {
        let own = table(value, key.get_ref())?;
        only(own, &[HANDED_DOWN, BODY, &["also"]])?;
        let mut names = vec![key.get_ref().as_ref()];
        names.extend(texts(own, "also")?.into_iter().map(|(_, name)| name));
        // Further names are dealt with here, whatever level they stand on.
        let mut own = own.clone();
        let _ = own.remove("also");
        for name in names {
            add(&mut nested, name, &key.span(), &own)?;
        }
    }
    let mut forms = Vec::new();
    for (name, (span, own)) in &nested {
        let form = form(own, span, inherited, depth + 1)?;
        forms.extend(short(span, name.as_bytes())?);
        forms.extend(long(span, &form)?);
    }
    Ok(forms)
}

fn add<'i>(nested: &mut Nested<'i>, name: &str, span: &Range<usize>, own: &DeTable<'i>) -> Result<()> {
    let (first, rest) = name.split_once(' ').map_or((name, None), |(first, rest)| (first, Some(rest)));
    let (_, entry) = nested.entry(first.to_owned()).or_insert_with(|| (span.clone(), DeTable::new()));
    let Some(rest) = rest else {
        for (key, value) in own {
            if key.get_ref() == "sub" && entry.contains_key("sub") {
                return fault(&key.span(), "its subcommands stand in two places");
            }
            entry.insert(key.clone(), value.clone());
        }
        return Ok(());
    };
    let place = |text: &str| Spanned::new(span.clone(), text.to_owned().into());
    let empty = || Spanned::new(span.clone(), DeValue::Table(DeTable::new()));
    let inner = entry.entry(place("sub")).or_insert_with(empty);
    let DeValue::Table(inner) = inner.get_mut() else {
        return fault(span, "`sub` is not a table");
    };
    let value = Spanned::new(span.clone(), DeValue::Table(own.clone()));
    if inner.insert(place(rest), value).is_some() {
        return fault(span, format!("`{name}` stands there twice"));
    }
    Ok(())
}

fn act(at: &Range<usize>, name: &str) -> Result<u8> {
    let place = Act::ALL.iter().position(|act| act.name() == name);
    match place.and_then(|place| u8::try_from(place).ok()) {
        Some(place) => Ok(place),
        None => fault(at, format!("there is no act `{name}`")),
    }
}

fn role(at: &Range<usize>, text: &str) -> Result<u8> {
    Ok(match text {
        "text" => 0,
        "target" => 1,
        "data" => 2,
        "command" => 3,
        "key" => 4,
        name => act(at, name)?.saturating_add(5),
    })
}

fn slot(at: &Range<usize>, text: &str) -> Result<[u8; 2]> {
    let (name, is_many) = text.strip_suffix('*').map_or((text, false), |name| (name, true));
    Ok([role(at, name)?, u8::from(is_many)])
}

/// Reads `-o --output =write !act ~twist`.
fn option(at: &Range<usize>, text: &str) -> Result<Vec<u8>> {
    let (mut spellings, mut value, mut acts, mut twist) = (Vec::new(), [0, 0], Vec::new(), 0);
    for word in text.split_whitespace() {
        if let Some(name) = word.strip_prefix("=?") {
            value = [2, role(at, name)?];
        } else if let Some(name) = word.strip_prefix('=') {
            value = [1, role(at, name)?];
        } else if let Some(name) = word.strip_prefix('!') {
            acts.push(act(at, name)?);
        } else if let Some(place) = TWISTS.iter().position(|name| *name == word) {
            twist = u8::try_from(place + 1).unwrap_or_default();
        } else if word.starts_with(['-', '/', '+']) {
            spellings.extend(short(at, word.as_bytes())?);
        } else {
            return fault(at, format!("`{word}` in the option `{text}` is not understood"));
        }
    }
    if spellings.is_empty() {
        return fault(at, format!("the option `{text}` has no spelling"));
    }
    let mut all = long(at, &spellings)?;
    all.extend(value);
    all.extend(short(at, &acts)?);
    all.push(twist);
    Ok(all)
}

/// Encodes a piece behind its length in one byte.
fn short(at: &Range<usize>, piece: &[u8]) -> Result<Vec<u8>> {
    let Ok(length) = u8::try_from(piece.len()) else {
        return fault(at, format!("{} bytes are too many", piece.len()));
    };
    let mut all = vec![length];
    all.extend(piece);
    Ok(all)
}

/// Encodes a piece behind its length in four bytes.
fn long(at: &Range<usize>, piece: &[u8]) -> Result<Vec<u8>> {
    let Ok(length) = u32::try_from(piece.len()) else {
        return fault(at, format!("{} bytes are too many", piece.len()));
    };
    let mut all = length.to_le_bytes().to_vec();
    all.extend(piece);
    Ok(all)
}

/// Refuses keys that are not in one of these lists.
fn only(own: &DeTable<'_>, known: &[&[&str]]) -> Result<()> {
    let is_known = |key: &str| known.iter().any(|keys| keys.contains(&key));
    match own.keys().find(|key| !is_known(key.get_ref())) {
        Some(key) => fault(&key.span(), format!("the key `{}` is not known here", key.get_ref())),
        None => Ok(()),
    }
}

fn text<'a>(value: &'a Spanned<DeValue<'_>>, key: &str) -> Result<&'a str> {
    match value.get_ref().as_str() {
        Some(text) => Ok(text),
        None => fault(&value.span(), format!("`{key}` holds something else than text")),
    }
}

/// Returns the texts of a list, each with where it stands.
fn texts<'a>(own: &'a DeTable<'_>, key: &str) -> Result<Vec<(Range<usize>, &'a str)>> {
    let Some(value) = own.get(key) else {
        return Ok(Vec::new());
    };
    array(value, key)?.iter().map(|item| Ok((item.span(), text(item, key)?))).collect()
}

fn array<'a, 'i>(value: &'a Spanned<DeValue<'i>>, key: &str) -> Result<&'a DeArray<'i>> {
    match value.get_ref().as_array() {
        Some(array) => Ok(array),
        None => fault(&value.span(), format!("`{key}` is not a list")),
    }
}

fn table<'a, 'i>(value: &'a Spanned<DeValue<'i>>, key: &str) -> Result<&'a DeTable<'i>> {
    match value.get_ref().as_table() {
        Some(table) => Ok(table),
        None => fault(&value.span(), format!("`{key}` is not a table")),
    }
}
