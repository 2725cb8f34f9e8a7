//! Variables that hold secrets, by their names.

use crate::invocation::Survey;
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
fn shown_variables(text: &str) -> Vec<&str> {
    let mut names = Vec::new();
    for (at, _) in text.match_indices('$') {
        let rest = text.get(at + 1..).unwrap_or_default();
        let is_braced = rest.starts_with('{');
        let inside = rest.trim_start_matches('{').trim_start_matches('!');
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

/// A value that is made of values is followed this far.
const FOLLOWED: usize = 4;

/// Returns the secret variables of the session that a text of an invocation shows, also by other names of the line.
pub(crate) fn secrets_in(survey: &Survey, text: &str, invocation: usize) -> Vec<String> {
    let names = shown_variables(text).into_iter();
    names.filter_map(|name| secret_behind(survey, name, invocation, FOLLOWED)).collect()
}

/// Returns the secret variable that a variable holds the value of where an invocation starts.
fn secret_behind(survey: &Survey, name: &str, invocation: usize, depth: usize) -> Option<String> {
    let earlier = survey.invocations.get(..invocation).unwrap_or_default();
    let assigned = earlier.iter().enumerate().rev().find_map(|(at, command)| {
        let lasts = command.arguments.is_empty();
        let mut variables = command.assignments.iter().filter(|variable| lasts && variable.name == name);
        variables.next().map(|variable| (at, &variable.value))
    });
    match assigned {
        // What the line itself sets is as secret as what it is made of.
        Some(_) if depth == 0 => None,
        Some((at, value)) => {
            let mut parts = shown_variables(&value.text).into_iter();
            parts.find_map(|inner| secret_behind(survey, inner, at, depth - 1))
        }
        // Sessions export names in capital letters.
        None => {
            let is_exported = !name.contains(|letter: char| letter.is_ascii_lowercase());
            (is_exported && is_secret_name(name)).then(|| name.to_owned())
        }
    }
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
        assert!(is_plain_search("PATH") && is_plain_search("^NODE") && is_plain_search("node\\|python"));
        assert!(
            !is_plain_search("AWS")
                && !is_plain_search("TOKEN")
                && !is_plain_search(".*")
                && !is_plain_search("PATH|KEY")
        );
    }
}
