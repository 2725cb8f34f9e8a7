//! `sed`: a script that may write, read or run, and files that are changed in place with `-i`.

use super::CommandContext;
use super::{certain, has, possible};
use crate::act::Act;
use crate::argument::{Argument, Knowledge};
use crate::profile::{Match, Use};
use crate::shape::Shape;

/// A longer script is not read.
const LONGEST_SCRIPT: usize = 16 * 1024;

/// Reads the arguments of `sed`.
pub(super) fn read(_: &CommandContext<'_>, found: &Match<'_>) -> Vec<Use> {
    let mut uses = found.uses.clone();
    let is_in_place = has(found, &["-i"]);
    let mut operands: &[Argument] = &found.wanted.operands;
    if let [first, rest @ ..] = operands
        && is_in_place
        && first.fixed() == Some("")
    {
        // On BSD the suffix of the copy is a word of its own.
        operands = rest;
    }
    let values = found.wanted.options.iter().filter(|(option, _)| *option == "-e");
    let mut scripts: Vec<&Argument> = values.filter_map(|(_, value)| value.as_ref()).collect();
    if scripts.is_empty()
        && !has(found, &["-f"])
        && let [script, files @ ..] = operands
    {
        scripts.push(script);
        operands = files;
    }
    uses.extend(script_uses(&scripts));
    // The copy is named by the suffix, which may lead elsewhere.
    let suffixes = found.wanted.options.iter().filter(|(option, _)| *option == "-i");
    let suffixes = suffixes.filter_map(|(_, value)| value.as_ref()).filter(|value| value.text.contains('/'));
    uses.extend(suffixes.map(|suffix| certain(Act::Unknown, suffix)));
    let files = operands.iter().filter(|file| file.text != "-");
    for file in files {
        uses.push(certain(Act::Read, file));
        if is_in_place {
            uses.push(certain(Act::Write, file));
        }
    }
    uses
}

/// Returns what the pieces of a script do beyond changing text.
fn script_uses(scripts: &[&Argument]) -> Vec<Use> {
    let Some(first) = scripts.first() else {
        return Vec::new();
    };
    let known = |script: &Argument| match script.knowledge {
        // Whatever number it is, the commands are the same.
        Knowledge::Dynamic => script.shape().and_then(Shape::with_any_number),
        Knowledge::Fixed | Knowledge::Tilde | Knowledge::Glob => Some(script.text.clone()),
    };
    if let Some(open) = scripts.iter().find(|script| known(script).is_none()) {
        return vec![possible(Act::Unknown, open)];
    }
    let text = scripts.iter().filter_map(|script| known(script)).collect::<Vec<_>>().join("\n");
    let whole = if text.len() > LONGEST_SCRIPT { None } else { acts(&text, SedBrackets::Hide) };
    let Some(mut acts) = whole else {
        return vec![certain(Act::Unknown, first)];
    };
    // Older versions end a pattern at a delimiter in brackets; where that is a script too, it counts as well.
    acts.extend(self::acts(&text, SedBrackets::Ignored).unwrap_or_default());
    let uses = acts.into_iter().map(|(act, file)| match act {
        Act::Unknown => certain(act, first),
        _ => certain(act, &Argument { knowledge: Knowledge::Fixed, ..first.piece(&file) }),
    });
    uses.collect()
}

/// Whether a delimiter inside brackets ends a pattern.
#[derive(Clone, Copy, PartialEq, Eq)]
enum SedBrackets {
    Hide,
    Ignored,
}

/// Commands that only print, change or skip lines and take no argument.
const PLAIN: &str = "=dDgGhHnNpPxzF";

/// What a script does to files, and unknown for what it runs; `None` if it is not understood.
fn acts(script: &str, brackets: SedBrackets) -> Option<Vec<(Act, String)>> {
    let mut found = Vec::new();
    let mut rest = script;
    loop {
        rest = rest
            .trim_start_matches(|letter: char| letter.is_whitespace() || matches!(letter, ';' | '{' | '}'));
        if rest.is_empty() {
            return Some(found);
        }
        let after = skip_addresses(rest, brackets)?;
        let after = after.trim_start_matches(|letter: char| letter.is_whitespace() || letter == '!');
        let mut letters = after.chars();
        let command = letters.next()?;
        rest = command_end(command, letters.as_str(), brackets, &mut found)?;
    }
}

/// Notes what a command does and returns what follows it.
fn command_end<'a>(
    command: char,
    rest: &'a str,
    brackets: SedBrackets,
    found: &mut Vec<(Act, String)>,
) -> Option<&'a str> {
    match command {
        '{' | '}' => Some(rest),
        '#' => Some(split_line(rest).1),
        'a' | 'i' | 'c' => Some(skip_text(rest)),
        'l' | 'L' | 'q' | 'Q' => {
            ended(rest.trim_start_matches(|letter: char| letter == ' ' || letter.is_ascii_digit()))
        }
        ':' | 'b' | 't' | 'T' | 'v' => Some(
            rest.trim_start_matches([' ', '\t']).trim_start_matches(|letter: char| !"; \n}".contains(letter)),
        ),
        'r' | 'R' | 'w' | 'W' => {
            let (name, after) = split_line(rest);
            let act = if command.eq_ignore_ascii_case(&'r') { Act::Read } else { Act::Write };
            note_file(act, name, found);
            Some(after)
        }
        'e' => {
            found.push((Act::Unknown, String::new()));
            Some(split_line(rest).1)
        }
        's' => substitution(rest, brackets, found),
        'y' => {
            let (delimiter, inside) = delimiter(rest)?;
            let second = skip_delimited(inside, delimiter, SedBrackets::Ignored)?;
            ended(skip_delimited(second, delimiter, SedBrackets::Ignored)?)
        }
        _ if PLAIN.contains(command) => ended(rest),
        _ => None,
    }
}

fn substitution<'a>(rest: &'a str, brackets: SedBrackets, found: &mut Vec<(Act, String)>) -> Option<&'a str> {
    let (delimiter, pattern) = delimiter(rest)?;
    let replacement = skip_delimited(pattern, delimiter, brackets)?;
    if switches_off(pattern, replacement) {
        found.push((Act::Unknown, String::new()));
    }
    let mut flags = skip_delimited(replacement, delimiter, SedBrackets::Ignored)?;
    loop {
        let mut letters = flags.chars();
        match letters.next() {
            Some('g' | 'p' | 'i' | 'I' | 'm' | 'M' | '0'..='9') => flags = letters.as_str(),
            Some('e') => {
                found.push((Act::Unknown, String::new()));
                flags = letters.as_str();
            }
            Some('w') => {
                let (name, after) = split_line(letters.as_str());
                note_file(Act::Write, name, found);
                return Some(after);
            }
            _ => return ended(flags),
        }
    }
}

/// Says whether a substitution switches something off by which a person has a say.
fn switches_off(pattern: &str, replacement: &str) -> bool {
    const SAYS: &[&str] =
        &["approval", "approve", "confirm", "human_in", "human-in", "permission", "review", "sandbox"];
    const PAIRS: &[(&str, &str)] = &[
        ("true", "false"),
        ("yes", "no"),
        ("on", "off"),
        ("enabled", "disabled"),
        ("required", "optional"),
        ("always", "never"),
    ];
    let before = pattern.strip_suffix(replacement).unwrap_or(pattern).to_ascii_lowercase();
    let after = replacement.to_ascii_lowercase();
    let holds = |text: &str, word: &str| {
        text.split(|letter: char| !letter.is_ascii_alphanumeric()).any(|own| own == word)
    };
    SAYS.iter().any(|word| before.contains(word))
        && PAIRS.iter().any(|(on, off)| holds(&before, on) && holds(&after, off))
}

fn note_file(act: Act, name: &str, found: &mut Vec<(Act, String)>) {
    let name = name.trim_start();
    if !matches!(name, "/dev/stdout" | "/dev/stderr" | "/dev/stdin") {
        found.push((act, name.to_owned()));
    }
}

/// Returns the rest if a command may end here.
fn ended(rest: &str) -> Option<&str> {
    let trimmed = rest.trim_start_matches([' ', '\t', '\r']);
    (trimmed.is_empty() || trimmed.starts_with([';', '\n', '}', '#'])).then_some(trimmed)
}

fn split_line(text: &str) -> (&str, &str) {
    text.split_once('\n').unwrap_or((text, ""))
}

/// Passes over the text of `a`, `i` and `c`: lines go on after a backslash.
fn skip_text(text: &str) -> &str {
    let mut rest = text;
    loop {
        let (line, after) = split_line(rest);
        let backslashes = line.len() - line.trim_end_matches('\\').len();
        if backslashes % 2 == 0 || after.is_empty() {
            return after;
        }
        rest = after;
    }
}

/// Passes over the addresses in front of a command: `1,5`, `$`, `/a/,+3`, `\|x|I`.
fn skip_addresses(text: &str, brackets: SedBrackets) -> Option<&str> {
    let first = skip_address(text, brackets)?;
    let trimmed = first.trim_start_matches([' ', '\t']);
    match trimmed.strip_prefix(',') {
        Some(second) => skip_address(second.trim_start_matches([' ', '\t', '+', '~']), brackets),
        None => Some(first),
    }
}

fn skip_address(text: &str, brackets: SedBrackets) -> Option<&str> {
    let mut letters = text.chars();
    match letters.next() {
        Some('$') => Some(letters.as_str()),
        Some('0'..='9') => {
            Some(text.trim_start_matches(|letter: char| letter.is_ascii_digit() || letter == '~'))
        }
        Some('/') => skip_delimited(letters.as_str(), '/', brackets).map(skip_address_flags),
        Some('\\') => {
            let (delimiter, pattern) = delimiter(letters.as_str())?;
            skip_delimited(pattern, delimiter, brackets).map(skip_address_flags)
        }
        _ => Some(text),
    }
}

fn skip_address_flags(text: &str) -> &str {
    text.trim_start_matches(['I', 'M'])
}

fn delimiter(text: &str) -> Option<(char, &str)> {
    let mut letters = text.chars();
    let delimiter = letters.next().filter(|letter| !matches!(letter, '\\' | '\n'))?;
    Some((delimiter, letters.as_str()))
}

/// Returns what follows the next delimiter that is neither escaped nor, in a pattern, inside brackets.
fn skip_delimited(text: &str, delimiter: char, brackets: SedBrackets) -> Option<&str> {
    let mut letters = text.chars();
    let mut may_hide = brackets == SedBrackets::Hide;
    while let Some(letter) = letters.next() {
        match letter {
            '\\' => {
                letters.next();
            }
            _ if letter == delimiter => return Some(letters.as_str()),
            '[' if may_hide => match skip_brackets(letters.as_str()) {
                Some(after) => letters = after.chars(),
                // What does not close here closes nowhere further on.
                None => may_hide = false,
            },
            _ => {}
        }
    }
    None
}

/// Returns what follows a bracket expression; `None` if it does not end on its line.
fn skip_brackets(text: &str) -> Option<&str> {
    let text = text.strip_prefix('^').unwrap_or(text);
    let mut rest = text.strip_prefix(']').unwrap_or(text);
    loop {
        let mut letters = rest.chars();
        match letters.next()? {
            ']' => return Some(letters.as_str()),
            '\n' => return None,
            '[' => {
                let class = letters.as_str();
                let closing = [(":", ":]"), (".", ".]"), ("=", "=]")].iter().find_map(|(open, close)| {
                    class.strip_prefix(open).and_then(|inside| inside.split_once(close))
                });
                rest = closing.map_or(class, |(_, after)| after);
            }
            _ => rest = letters.as_str(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::reader::testing::effects;

    #[test]
    fn scripts_that_only_change_text_do_nothing_else() {
        for script in [
            "1,5p",
            "$p",
            "/a/p",
            "s/a/b/",
            "s/a/b/gp",
            "10q",
            "/x/,/y/d",
            "s|a|b|;p",
            "$!d",
            "1~2p",
            "s/[^/]*$//",
            "/a/,+3{s/x/y/;p}",
            "a\\\nw text",
            "i hello; w x",
            "y/abc/xyz/",
            ":a;N;$!ba;s/\\n/ /g",
            "\\|x|d",
            "$!{N;D}",
            "/a/I,/b/Ip",
            "2i\\  text",
            "# w x\np",
            "s/[[:space:]/]*/x/",
            "=",
            "0,/x/s//y/",
        ] {
            assert_eq!(acts(script, SedBrackets::Hide), Some(Vec::new()), "{script}");
        }
    }

    #[test]
    fn scripts_that_write_read_or_run_say_so() {
        let written = |name: &str| Some(vec![(Act::Write, name.to_owned())]);
        for script in
            ["w out", "p;w out", "s/a/b/w out", "s/a/b/gw out", "/x/{w out\n}", "1!w out", "a x\nw out"]
        {
            assert_eq!(acts(script, SedBrackets::Hide), written("out"), "{script}");
        }
        for script in ["e", "1e date", "s/a/b/e", "s/a/b/ge", "$!{e\n}"] {
            assert_eq!(
                acts(script, SedBrackets::Hide),
                Some(vec![(Act::Unknown, String::new())]),
                "{script}"
            );
        }
        assert_eq!(acts("r /etc/x", SedBrackets::Hide), Some(vec![(Act::Read, "/etc/x".to_owned())]));
        for script in ["k", "s/a/b", "s/a/b/x", "p p", "s"] {
            assert_eq!(acts(script, SedBrackets::Hide), None, "{script}");
        }
    }

    #[test]
    fn files_are_read_and_with_i_written() {
        assert_eq!(effects("sed -n 1,5p x y"), ["read x", "read y"]);
        assert_eq!(effects("sed -i s/a/b/ x"), ["read x", "write x"]);
        assert_eq!(effects("sed -ni.bak -e p x"), ["read x", "write x"]);
        assert_eq!(effects("sed -i '' 's/a/b/' x"), ["read x", "write x"]);
        assert_eq!(effects("sed 'w out' x"), ["read x", "write out"]);
        assert_eq!(effects("sed -f run.sed x"), ["execute run.sed", "read x"]);
        assert_eq!(effects("sed \"s/$a/b/\" x"), ["read x", "unknown s/$a/b/"]);
        assert_eq!(effects("sed 's/[/]/;w out\n#/' x"), ["read x", "write out"]);
    }
}
