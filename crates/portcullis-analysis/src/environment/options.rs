//! Values that hold options of a program: which load nothing, run nothing and lead nowhere else.

use super::value::{is_usual, variable_in};
use crate::lists::environment::{LOADING_OPTIONS, PAGER_OPTIONS};

/// Options whose value is a directory of headers or libraries, or a text.
const SEARCHING: &[&str] = &["-D", "-F", "-I", "-L", "-R", "-Wl,-rpath", "-isystem"];

/// Says whether all options of a value are plain.
pub(super) fn are_plain(name: &str, value: &str) -> bool {
    if matches!(name, "LESS" | "SYSTEMD_LESS") {
        return value.split_whitespace().all(is_pager_option);
    }
    // Names of goals and targets stand among the words of these.
    let takes_operands = name.contains("ARGS");
    let mut after_option = false;
    // As many jobs as there are processors.
    let value = value.replace("$(nproc)", "1").replace("$(sysctl -n hw.ncpu)", "1");
    value.trim_matches('"').split_whitespace().all(|word| {
        let is_own = variable_in(word) == Some(name);
        let is_option = word.starts_with(['-', '+']) && word.len() > 1;
        let fits =
            is_own || is_plain(word) && (is_option || after_option && !takes_operands || is_setting(word));
        after_option = is_option;
        fits
    })
}

/// Says whether one word is an option, or the value of one, that loads and runs nothing.
pub(super) fn is_plain(word: &str) -> bool {
    // The names of directories say nothing.
    let is_searching = SEARCHING.iter().any(|option| *option != "-D" && word.starts_with(option));
    let is_loading = !is_searching
        && LOADING_OPTIONS.iter().any(|piece| match *piece {
            "-B" | "-p" | "@" => word.starts_with(piece),
            piece => word.contains(piece),
        });
    let is_plain = |letter: char| letter.is_ascii_alphanumeric() || "_-.,+=:%/*".contains(letter);
    !is_loading && word.chars().all(is_plain) && leads_nowhere(word)
}

/// Says whether a word is `key=number`, as sanitizers take their options.
fn is_setting(word: &str) -> bool {
    word.split_once('=').is_some_and(|(key, value)| {
        key.chars().all(|letter| letter.is_ascii_lowercase() || letter == '_')
            && super::value::is_switch(value)
    })
}

/// Says whether a word holds no path, or one that lies in the project or the system where headers and libraries are
/// looked for.
fn leads_nowhere(word: &str) -> bool {
    let Some(at) = word.find('/') else {
        return !word.contains("..");
    };
    let start = SEARCHING.iter().find_map(|option| word.strip_prefix(option));
    let path = start.map(|rest| rest.rsplit(['=', ',']).next().unwrap_or(rest));
    path.is_some_and(|path| {
        !path.split('/').any(|part| part == "..") && (!path.starts_with('/') || is_usual(path, None))
    }) && at > 0
}

/// Letters of `less` that change how a text looks.
const PAGER_LETTERS: &str = "aAcCdeEfFgGiIJKmMnNqQrRsSuUVwWX0123456789";

fn is_pager_option(word: &str) -> bool {
    PAGER_OPTIONS.contains(&word)
        || word.trim_start_matches('-').chars().all(|letter| PAGER_LETTERS.contains(letter))
            && !word.starts_with("--")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn options_that_load_run_or_lead_elsewhere_are_not_plain() {
        for (name, value) in [
            ("RUSTFLAGS", "-D warnings -C target-cpu=native"),
            ("CFLAGS", "-O2 -Wall -Iinclude -I/usr/include"),
            ("GOFLAGS", "-mod=mod -tags=integration"),
            ("MAVEN_OPTS", "-Xmx2g -Dmaven.test.skip=true"),
            ("NODE_OPTIONS", "--max-old-space-size=4096 --experimental-vm-modules"),
            ("LESS", "-FRX"),
            ("CFLAGS", "$CFLAGS -g"),
            ("ASAN_OPTIONS", "detect_leaks=0"),
        ] {
            assert!(are_plain(name, value), "{name}={value}");
        }
        for (name, value) in [
            ("RUSTFLAGS", "-C linker=/opt/x"),
            ("GOFLAGS", "-toolexec=x"),
            ("MAVEN_ARGS", "-q deploy"),
            ("MAVEN_ARGS", "-s /x.xml"),
            ("NODE_OPTIONS", "--require x"),
            ("LESS", "+!sh"),
            ("LDFLAGS", "-L/opt/x"),
            ("CFLAGS", "-I../x"),
            ("MAKEFLAGS", "--eval=x"),
            ("CFLAGS", "$X"),
            ("JAVA_OPTS", "x.jar"),
        ] {
            assert!(!are_plain(name, value), "{name}={value}");
        }
    }
}
