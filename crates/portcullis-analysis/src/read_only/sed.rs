//! `sed` that prints: no `-i`, and a script without commands that write, read or run.

use crate::argument::Argument;

pub(super) fn is_read_only(operands: &[Argument]) -> bool {
    !operands.iter().any(edits_in_place) && has_harmless_script(operands)
}

/// Says whether an option makes `sed` write the files it reads.
fn edits_in_place(word: &Argument) -> bool {
    word.text.starts_with("--in-place") || (word.text.starts_with("-i") && !word.text.starts_with("--"))
}

/// Says whether the script only prints or changes text, `-i` or not.
pub(super) fn has_harmless_script(operands: &[Argument]) -> bool {
    let mut scripts = Vec::new();
    let mut first_operand = None;
    let mut words = operands.iter();
    while let Some(word) = words.next() {
        match word.text.as_str() {
            "-e" | "-ne" | "-Ee" | "-re" | "--expression" => {
                scripts.extend(words.next().map(|script| script.text.as_str()));
            }
            "-n" | "-E" | "-r" | "-s" | "-u" | "-z" | "-nE" | "-nr" | "--quiet" | "--silent"
            | "--regexp-extended" | "--posix" | "--sandbox" => {}
            _ if edits_in_place(word) => {}
            text if text.starts_with('-') && text.len() > 1 => return false,
            text => {
                first_operand.get_or_insert(text);
            }
        }
    }
    if scripts.is_empty() {
        scripts.extend(first_operand);
    }
    !scripts.is_empty() && scripts.iter().all(|script| is_printing(script))
}

/// Says whether a script is a sequence of addressed `p`, `d`, `q`, `=`, `n` or `s` without `w` and `e`.
fn is_printing(script: &str) -> bool {
    let mut rest = script.trim();
    if rest.is_empty() {
        return false;
    }
    while !rest.is_empty() {
        let Some(next) = skip_command(skip_addresses(rest)) else {
            return false;
        };
        rest = next.trim_start_matches([';', ' ', '\n', '}']);
    }
    true
}

fn skip_addresses(text: &str) -> &str {
    let mut rest = text;
    loop {
        let trimmed =
            rest.trim_start_matches(|letter: char| letter.is_ascii_digit() || "$,~+! {".contains(letter));
        let after = trimmed.strip_prefix('/').and_then(|pattern| skip_delimited(pattern, '/'));
        match after {
            Some(after) => rest = after,
            None => return trimmed,
        }
    }
}

/// Returns what follows the next unescaped delimiter.
fn skip_delimited(text: &str, delimiter: char) -> Option<&str> {
    let mut escaped = false;
    for (at, letter) in text.char_indices() {
        if escaped {
            escaped = false;
        } else if letter == '\\' {
            escaped = true;
        } else if letter == delimiter {
            return text.get(at + letter.len_utf8()..);
        }
    }
    None
}

fn skip_command(text: &str) -> Option<&str> {
    let mut letters = text.chars();
    let command = letters.next()?;
    let rest = letters.as_str();
    match command {
        'p' | 'd' | 'P' | 'D' | '=' | 'n' | 'N' | 'g' | 'G' | 'h' | 'H' | 'x' => Some(rest),
        'q' | 'Q' => Some(rest.trim_start_matches(|letter: char| letter == ' ' || letter.is_ascii_digit())),
        's' => {
            let mut after = rest.chars();
            let delimiter =
                after.next().filter(|letter| !letter.is_alphanumeric() && !"\\\n ".contains(*letter))?;
            let replacement = skip_delimited(after.as_str(), delimiter)?;
            let flags = skip_delimited(replacement, delimiter)?;
            let end =
                flags.trim_start_matches(|letter: char| "gpiI".contains(letter) || letter.is_ascii_digit());
            (end.is_empty() || end.starts_with([';', ' ', '\n', '}'])).then_some(end)
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scripts_that_print_are_told_from_scripts_that_write_or_run() {
        for script in
            ["1,5p", "$p", "/a/p", "s/a/b/", "s/a/b/gp", "10q", "/x/,/y/d", "s|a|b|;p", "$!d", "1~2p"]
        {
            assert!(is_printing(script), "{script}");
        }
        for script in
            ["w out", "1e date", "s/a/b/w out", "s/a/b/e", "r file", "p;w x", "e", "s/a/b/gw f", "R x", ""]
        {
            assert!(!is_printing(script), "{script}");
        }
    }
}
