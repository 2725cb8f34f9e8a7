//! Variables that hold secrets, by their names.

use crate::lists::environment::{ABOUT_SECRETS, PLAIN_NAMES, SECRET_NAMES};

/// Says whether a variable holds a secret, going by its name.
pub(crate) fn is_secret_name(name: &str) -> bool {
    let upper = name.to_ascii_uppercase();
    let pieces: Vec<&str> = upper.split('_').collect();
    let is_about = pieces.last().is_some_and(|last| ABOUT_SECRETS.contains(last));
    let has_piece = SECRET_NAMES.iter().any(|secret| {
        let wanted: Vec<&str> = secret.split('_').collect();
        pieces.windows(wanted.len()).any(|window| window == wanted)
    });
    has_piece && !is_about
}

/// Says whether a search in a listing of the environment is after something plain: a word of a list, and no pattern that
/// could take more.
pub(crate) fn is_plain_search(pattern: &str) -> bool {
    let is_plain = |part: &str| {
        let part = part.trim_start_matches('^').trim_end_matches('=').to_ascii_uppercase();
        PLAIN_NAMES.iter().any(|plain| part.contains(plain))
            && !is_secret_name(&part)
            && !part.contains(['*', '.', '['])
    };
    pattern.replace("\\|", "|").split('|').all(is_plain)
}

/// Returns the variables whose values a text shows, as the shell expands it. A length and a mere test show nothing.
pub(super) fn shown_variables(text: &str) -> Vec<&str> {
    let mut names = Vec::new();
    for (at, _) in text.match_indices('$') {
        let rest = text.get(at + 1..).unwrap_or_default();
        let is_braced = rest.starts_with('{');
        let inside = rest.strip_prefix('{').unwrap_or(rest);
        let end = inside.find(|letter: char| !letter.is_ascii_alphanumeric() && letter != '_');
        let name = end.and_then(|end| inside.get(..end)).unwrap_or(inside);
        let after = inside.get(name.len()..).unwrap_or_default();
        let is_test = is_braced && (after.starts_with(":+") || after.starts_with('+'));
        if !name.is_empty() && !is_test {
            names.push(name);
        }
    }
    names
}

/// Says whether a text shows a variable whose name is the value of another one: `${!x}`. The keys of an array are none.
pub(crate) fn shows_some_variable(text: &str) -> bool {
    text.match_indices("${!").any(|(at, start)| {
        let inside = text.get(at + start.len()..).unwrap_or_default();
        let rest = inside.trim_start_matches(|letter: char| letter.is_ascii_alphanumeric() || letter == '_');
        rest.starts_with(['}', ':', '-'])
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_tell_secrets() {
        for name in [
            "GITHUB_TOKEN",
            "AWS_SECRET_ACCESS_KEY",
            "DB_PASSWORD",
            "CR_PAT",
            "OPENAI_API_KEY",
            "SENTRY_DSN",
            "TOKEN",
            "STRIPE_SECRET_KEY_PROD",
        ] {
            assert!(is_secret_name(name), "{name}");
        }
        for name in [
            "HOME",
            "PATH",
            "TOKENIZERS_PARALLELISM",
            "SSH_AUTH_SOCK",
            "DB_PASSWORD_FILE",
            "AUTHOR",
            "PATTERN",
            "AWS_ACCESS_KEY_ID",
        ] {
            assert!(!is_secret_name(name), "{name}");
        }
    }

    #[test]
    fn a_length_or_a_test_shows_nothing() {
        assert_eq!(shown_variables("a $B ${C} ${D:0:4} ${#E} ${F:+set} ${G:-x}"), ["B", "C", "D", "G"]);
        assert!(shows_some_variable("a ${!x}") && !shows_some_variable("${!x[@]} ${!x*} ${x}"));
        assert!(is_plain_search("PATH") && is_plain_search("^NODE") && is_plain_search("node\\|python"));
        assert!(
            !is_plain_search("AWS")
                && !is_plain_search("TOKEN")
                && !is_plain_search(".*")
                && !is_plain_search("PATH|KEY")
        );
    }
}
