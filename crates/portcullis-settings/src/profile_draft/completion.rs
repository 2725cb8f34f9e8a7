//! What completion files of shells say of options and subcommands.

use super::{Draft, DraftOption, DraftValue, is_plain_name, is_spelling};

/// Reads a completion file of fish: one `complete` a line.
pub fn of_fish(name: &str, text: &str) -> Draft {
    let mut draft = Draft::default();
    for line in text.lines() {
        let words = words(line);
        if words.first().map(String::as_str) != Some("complete") || !words.iter().any(|word| word == name) {
            continue;
        }
        let mut option = DraftOption { spellings: Vec::new(), value: DraftValue::None, about: String::new() };
        let (mut arguments, mut is_first) = (String::new(), false);
        let mut rest = words.iter().skip(1);
        while let Some(word) = rest.next() {
            let mut value = || rest.next().cloned().unwrap_or_default();
            match word.as_str() {
                "-s" | "--short-option" | "-o" | "--old-option" => {
                    option.spellings.push(format!("-{}", value()));
                }
                "-l" | "--long-option" => option.spellings.push(format!("--{}", value())),
                "-d" | "--description" => option.about = value(),
                "-a" | "--arguments" => arguments = value(),
                "-n" | "--condition" => is_first = value().contains("__fish_use_subcommand"),
                "-r" | "-x" | "-rF" | "-xa" | "--require-parameter" | "--exclusive" => {
                    option.value = DraftValue::Required;
                }
                _ => {}
            }
        }
        if is_first {
            let names = arguments.split_whitespace().filter(|word| is_plain_name(word));
            draft.subcommands.extend(names.map(|word| (word.to_owned(), option.about.clone())));
        }
        push(&mut draft, option);
    }
    draft
}

/// Splits a line of fish at blanks outside of quotes.
fn words(line: &str) -> Vec<String> {
    let (mut all, mut word, mut quote) = (Vec::new(), String::new(), None);
    for letter in line.chars() {
        match (quote, letter) {
            (None, '\'' | '"') => quote = Some(letter),
            (Some(open), _) if open == letter => quote = None,
            (None, ' ' | '\t') => {
                if !word.is_empty() {
                    all.push(std::mem::take(&mut word));
                }
            }
            _ => word.push(letter),
        }
    }
    all.push(word);
    all
}

/// Reads a completion file of zsh: `'--flag[what it does]'`, `{-o,--output}'[where]:file:_files'`.
pub fn of_zsh(text: &str) -> Draft {
    let mut draft = Draft::default();
    let unquoted = text.replace(['\'', '"'], "");
    let mut pieces = unquoted.split('[');
    let mut before = pieces.next().unwrap_or_default();
    for piece in pieces {
        let spec = before.rsplit([' ', '\t', '\n', ')', '(']).next().unwrap_or_default();
        let (about, after) = piece.split_once(']').unwrap_or((piece, ""));
        let names = spec.trim_start_matches(['*', '{']).trim_end_matches('}').split(',');
        let takes_value = after.starts_with(':');
        let spellings = names.map(|name| name.trim_end_matches(['=', '+', '-']).to_owned()).collect();
        let value = if takes_value { DraftValue::Required } else { DraftValue::None };
        push(&mut draft, DraftOption { spellings, value, about: about.to_owned() });
        before = after;
    }
    draft
}

/// Reads a completion file of bash, which says little more than how options are spelled.
pub fn of_bash(text: &str) -> Draft {
    let mut draft = Draft::default();
    let ends_word = |letter: char| !(letter.is_ascii_alphanumeric() || "-=_".contains(letter));
    for word in
        text.lines().filter(|line| !line.trim_start().starts_with('#')).flat_map(|line| line.split(ends_word))
    {
        let (name, value) = match word.split_once('=') {
            Some((name, _)) => (name, DraftValue::Required),
            None => (word, DraftValue::None),
        };
        let is_known = draft.options.iter().any(|option| option.spellings.iter().any(|known| known == name));
        if name.starts_with("--") && !is_known {
            push(&mut draft, DraftOption { spellings: vec![name.to_owned()], value, about: String::new() });
        }
    }
    draft
}

/// Keeps an option if something of it is one.
fn push(draft: &mut Draft, mut option: DraftOption) {
    option.spellings.retain(|spelling| is_spelling(spelling));
    if !option.spellings.is_empty() {
        draft.options.push(option);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(draft: &Draft) -> Vec<String> {
        let option = |option: &DraftOption| {
            format!("{} {:?} {}", option.spellings.join(" "), option.value, option.about)
                .trim_end()
                .to_owned()
        };
        draft.options.iter().map(option).collect()
    }

    #[test]
    fn fish_is_read() {
        let draft = of_fish(
            "acme",
            "complete -c acme -s o -l output -r -d 'Write there'\ncomplete -c acme -n __fish_use_subcommand -a 'build test' -d 'Do it'\ncomplete -c other -l no\n",
        );
        assert_eq!(shown(&draft), ["-o --output Required Write there"]);
        assert_eq!(draft.subcommands.len(), 2);
    }

    #[test]
    fn zsh_is_read() {
        let draft = of_zsh(
            "#compdef acme\n_arguments \\\n  '--all[take all]' \\\n  '(-o --output)'{-o,--output=}'[write there]:file:_files' \\\n  '*:file:_files'\n",
        );
        assert_eq!(shown(&draft), ["--all None take all", "-o --output Required write there"]);
    }

    #[test]
    fn bash_is_read() {
        let draft = of_bash("# --not-this\nopts='--all --output= --all'\n[[ $cur == --* ]]\n");
        assert_eq!(shown(&draft), ["--all None", "--output Required"]);
    }
}
