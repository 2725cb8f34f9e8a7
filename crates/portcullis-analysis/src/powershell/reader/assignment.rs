//! Assignments: of variables, of several at once, of items and properties, of variables that programs are started with.

use super::super::alias;
use super::super::cursor::is_quote;
use super::super::operator;
use super::super::value::{ObjectKind, PowerShellValue};
use super::super::word::{BoundParameters, PowerShellWord};
use super::argument::words_of;
use super::{BlockUse, PowerShellReader};

/// Variables that steer PowerShell itself, in lower case. Those with a drive before them, such as `env:`, do as well.
const STEERING_VARIABLES: &[&str] = &[
    "executioncontext",
    "home",
    "host",
    "ofs",
    "outputencoding",
    "profile",
    "pscmdlet",
    "pscommandpath",
    "psdefaultparametervalues",
    "pshome",
    "psmoduleautoloadingpreference",
    "psnativecommandargumentpassing",
    "psscriptroot",
    "pwd",
];

/// The name under which the setting of a variable is listed that programs are started with.
pub(crate) const EXPORT: &str = "$env:";

/// Properties of types that say how text looks and which connections are taken.
const HARMLESS_SETTINGS: &[&str] = &[
    "::outputencoding",
    "::inputencoding",
    "::securityprotocol",
    "::servercertificatevalidationcallback",
    "::title",
];

impl PowerShellReader<'_, '_> {
    /// Takes the sign of an assignment, the longest first.
    pub(super) fn assignment_sign(&mut self) -> Option<&'static str> {
        let signs = ["??=", "+=", "-=", "*=", "/=", "%=", "="];
        signs.into_iter().find(|sign| self.cursor.eat_text(sign))
    }

    /// Reads the right side of an assignment and keeps its value if it can be followed. Setting a property is listed as a
    /// command, because some of them run something.
    pub(super) fn assignment(&mut self, start: usize, end: usize, name: Option<String>, sign: &str) {
        let property = self.property.take().filter(|(property_end, _)| *property_end == end);
        let before = name.as_deref().and_then(|name| self.collector.scope.take(name));
        self.cursor.skip_trivia();
        let right = self.cursor.position();
        // Assignments nest: `$a = $b = …`.
        if !self.enter() {
            return;
        }
        let block_use = std::mem::replace(&mut self.block_use, BlockUse::Later);
        let value = self.statement().unwrap_or_else(PowerShellValue::unknown);
        self.block_use = block_use;
        self.collector.leave();
        if let Some((_, member)) = property {
            self.forget_variables(start);
            // What holds for the whole process, but for how text looks and which connections are taken.
            let is_setting =
                member.starts_with('[') && !HARMLESS_SETTINGS.iter().any(|end| member.ends_with(end));
            if is_setting {
                self.collector.lose();
            }
            let span = self.span(start);
            let index = self.collector.reserve(member.clone(), &member, span, self.place);
            let words = words_of(value, self.cursor.since(right), span, true);
            if let Some(command) = self.collector.command(index) {
                command.arguments = words.into_iter().map(|word| word.argument).collect();
            }
            return;
        }
        let Some(name) = name else {
            self.assigned_parts(start, end);
            return;
        };
        if name.starts_with("env:") {
            let written = self.cursor.since(right).to_owned();
            self.exported(sign, value, &written, start);
            return;
        }
        if name.contains(':') || STEERING_VARIABLES.contains(&name.as_str()) {
            self.collector.lose();
        }
        let value = self.typed(&name, value, start);
        let assigned = match (sign, before) {
            ("=", _) => value,
            ("+=", Some(before)) => before.plus(value),
            _ => PowerShellValue::unknown(),
        };
        // A text with unknown parts keeps what is known of it; the source of a command is no such text.
        let source = self.cursor.since(right);
        let is_text = source.starts_with(is_quote) || source.starts_with("$env:");
        let is_kept = is_text || assigned.known_text().is_some() || is_structured(&assigned);
        self.collector.scope.assign(&name, if is_kept { assigned } else { PowerShellValue::unknown() });
    }

    /// Turns a value into the type that stands before the variable. A variable keeps a document's type.
    fn typed(&mut self, name: &str, value: PowerShellValue, start: usize) -> PowerShellValue {
        let source = self.cursor.since(start);
        let Some((written, _)) = source.strip_prefix('[').and_then(|rest| rest.split_once(']')) else {
            return value;
        };
        let value = operator::cast(&alias::canonical_type(written), value);
        if value == PowerShellValue::Instance(ObjectKind::Document) {
            self.collector.scope.note_document(name);
        }
        value
    }

    /// Forgets variables that are set several at once, or in part. An item of some tables is a setting of PowerShell.
    fn assigned_parts(&mut self, start: usize, end: usize) {
        let source =
            self.cursor.since(start).get(..end.saturating_sub(start)).unwrap_or_default().to_lowercase();
        let is_steering = |name: &&str| source.contains(&format!("${name}"));
        let base = source.split('[').next().unwrap_or_default();
        let ends_oddly = source.contains('[') && !source.trim_end().ends_with(']');
        let is_odd = base.contains([':', '{', '&', '.']) || !source.starts_with('$') || ends_oddly;
        if is_odd || STEERING_VARIABLES.iter().any(is_steering) {
            self.collector.lose();
        }
        self.forget_variables(start);
    }

    /// Reads the removal of variables of the environment as what it is in bash; returns its words there.
    pub(super) fn unset(&mut self, index: usize, names: &[String]) -> Vec<PowerShellWord> {
        let span = self.span(self.cursor.position());
        if let Some(command) = self.collector.command(index) {
            "unset".clone_into(&mut command.name);
        }
        for name in names {
            self.collector.scope.forget(&format!("env:{}", name.to_lowercase()));
        }
        names.iter().map(|name| PowerShellWord::computed(name, false, span)).collect()
    }

    /// Lists the setting of a variable that programs are started with. On Windows its case does not count, so that the name
    /// that programs know it by counts too.
    fn exported(&mut self, sign: &str, value: PowerShellValue, written: &str, start: usize) {
        let source = self.cursor.since(start).to_owned();
        let (_, rest) = source.split_once(':').unwrap_or_default();
        let is_name = |letter: char| letter.is_alphanumeric() || letter == '_';
        let name = rest.split(|letter| !is_name(letter)).next().unwrap_or_default();
        if name.is_empty() {
            self.collector.lose();
            return;
        }
        let upper = name.to_uppercase();
        if upper != name {
            self.export(&upper, sign, value.clone(), written, start);
        }
        self.export(name, sign, value, written, start);
    }

    fn export(&mut self, name: &str, sign: &str, value: PowerShellValue, written: &str, start: usize) {
        let span = self.span(start);
        let index = self.collector.reserve(EXPORT.to_owned(), EXPORT, span, self.place);
        let value = if sign == "=" { value } else { PowerShellValue::unknown() };
        let words = [
            PowerShellWord::computed(name, false, span),
            PowerShellWord::new(value.clone(), written, span, true),
        ];
        if let Some(command) = self.collector.command(index) {
            command.arguments = words.into_iter().map(|word| word.argument).collect();
        }
        self.collector.scope.assign(&format!("env:{}", name.to_lowercase()), value);
    }
}

fn is_structured(value: &PowerShellValue) -> bool {
    matches!(
        value,
        PowerShellValue::Table(_)
            | PowerShellValue::Bytes(_)
            | PowerShellValue::Type(_)
            | PowerShellValue::List(_)
            | PowerShellValue::Block
            | PowerShellValue::Data
            | PowerShellValue::Instance(_)
            | PowerShellValue::Found(_)
    )
}

/// Returns the variables of the environment that `Remove-Item` removes; `None` if it removes anything else.
pub(super) fn removed_variables(words: &[PowerShellWord]) -> Option<Vec<String>> {
    let bound = BoundParameters::new(words, &["force"]);
    let names =
        bound.named("path").or_else(|| bound.named("literalpath")).or_else(|| bound.value("path", 0))?;
    let is_plain = bound.has_only(&[&["erroraction", "force", "literalpath", "path"]])
        && bound.positional.len() + usize::from(bound.has("path")) + usize::from(bound.has("literalpath"))
            == 1;
    let is_of_name = |letter: char| letter.is_ascii_alphanumeric() || letter == '_';
    let name = |word: &PowerShellWord| {
        let text = word.value.known_text()?;
        let (drive, rest) = text.split_at_checked(4)?;
        let name = rest.trim_start_matches(['\\', '/']);
        let is_plain = drive.eq_ignore_ascii_case("env:") && !name.is_empty() && name.chars().all(is_of_name);
        is_plain.then(|| name.to_owned())
    };
    names.iter().map(name).collect::<Option<Vec<_>>>().filter(|_| is_plain)
}
