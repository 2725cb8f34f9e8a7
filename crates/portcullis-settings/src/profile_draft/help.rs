//! What a program says of its options when it is asked for help: one a line, then two blanks or the next line.

use super::{Draft, DraftOption, option_of};

/// Reads a help text.
pub fn of_help(text: &str) -> Draft {
    let mut draft = Draft::default();
    // The last option still waits for the line that describes it.
    let mut is_waiting = false;
    for line in text.lines() {
        let line = line.trim();
        if line.starts_with('-') {
            let (spelled, about) = split(line);
            if let Some(option) = option_of(spelled) {
                is_waiting = about.is_empty();
                draft.options.push(DraftOption { about: about.to_owned(), ..option });
            }
        } else {
            if is_waiting
                && !line.is_empty()
                && let Some(option) = draft.options.last_mut()
            {
                line.clone_into(&mut option.about);
            }
            is_waiting = false;
        }
    }
    draft
}

/// Splits a line where the description begins: behind two blanks or a tab that no other spelling follows.
fn split(line: &str) -> (&str, &str) {
    let gaps = line.match_indices("  ").chain(line.match_indices('\t'));
    let mut places: Vec<usize> = gaps.map(|(at, _)| at).collect();
    places.sort_unstable();
    let parts = places.into_iter().filter_map(|at| line.split_at_checked(at));
    let described = parts.map(|(spelled, about)| (spelled, about.trim())).find(|(_, about)| {
        let is_value = about.starts_with(['<', '[', '=']);
        !about.starts_with('-') && !is_value
    });
    described.unwrap_or((line, ""))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(text: &str) -> Vec<String> {
        let option = |option: &DraftOption| {
            format!("{} {:?} {}", option.spellings.join(" "), option.value, option.about)
        };
        of_help(text).options.iter().map(option).collect()
    }

    #[test]
    fn help_texts_of_the_usual_forms_are_read() {
        let gnu = "Usage: acme [OPTION]...\n\n  -a, --all              take all\n  -o, --output=FILE      write to FILE\n      --color[=WHEN]     in colour\n";
        assert_eq!(
            shown(gnu),
            ["-a --all None take all", "-o --output Required write to FILE", "--color Attached in colour"]
        );
        let apart = "Options:\n  -o, --output <FILE>\n          Where to write\n  -v, --verbose\n          Say more\n";
        assert_eq!(shown(apart), ["-o --output Required Where to write", "-v --verbose None Say more"]);
        let doubled = "options:\n  -o FILE, --output FILE  write there\n  -h, --help  show this\n";
        assert_eq!(shown(doubled), ["-o --output Required write there", "-h --help None show this"]);
        let single = "Usage of acme:\n  -listen string\n    \taddress to listen on\n  -v\tsay more\n";
        assert_eq!(shown(single), ["-listen Required address to listen on", "-v None say more"]);
    }

    #[test]
    fn text_around_options_is_none() {
        assert_eq!(shown("Usage: acme [-a] [--all]\nSee --help.\n- a list\n-- and dashes\n"), [""; 0]);
    }
}
