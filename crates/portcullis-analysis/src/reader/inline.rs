//! Code on the line in languages without a reader: it counts as the project's if every function that it calls is listed.

use super::CommandContext;
use crate::act::Act;
use crate::argument::Argument;
use crate::lists::readers::inline::{JULIA, R};
use crate::profile::Use;

/// Takes code that calls nothing but listed functions for code of the project.
pub(super) fn take(context: &CommandContext<'_>, uses: &mut Vec<Use>) {
    // Code that a reader understands is judged by what stands in it.
    if let Some(code) = &context.invocation.code {
        let is_read = |word: &Argument| code.is_of(word);
        uses.retain(|used| used.act != Act::Unknown || !used.word.as_ref().is_some_and(is_read));
    }
    let known = match context.invocation.program_name() {
        Some("R" | "Rscript" | "littler") => R,
        Some("julia") => JULIA,
        _ => return,
    };
    let is_plain = |word: &Argument| word.fixed().is_some_and(|text| calls_only(text, known));
    for used in uses.iter_mut().filter(|used| used.act == Act::Unknown) {
        if used.word.as_ref().is_some_and(is_plain) {
            // What the project declares is installed on the way.
            let installs = used.word.as_ref().is_some_and(|word| word.text.contains("Pkg.instantiate"));
            used.act = if installs { Act::InstallDeclared } else { Act::RunProject };
        }
    }
}

/// Marks by which a function is called without its name before a parenthesis, or under another name.
const OTHER_CALLS: &[&str] =
    &["`", "|>", "%", "\u{2218}", "\\", "@", "$", ":::", ".(", "[[", "ENV", "~", ".."];

/// Functions that some listed ones would call if they were handed over.
const HANDED_OVER: &[&str] = &[
    "Cmd",
    "cd",
    "chmod",
    "chown",
    "cp",
    "download",
    "eval",
    "exit",
    "include",
    "kill",
    "mkdir",
    "mkpath",
    "mv",
    "open",
    "read",
    "readdir",
    "readlines",
    "rm",
    "run",
    "symlink",
    "system",
    "touch",
    "unlink",
    "walkdir",
    "write",
];

/// Says whether a text calls nothing but these functions.
fn calls_only(text: &str, known: &[&str]) -> bool {
    let mut words = text.split(|letter: char| !letter.is_alphanumeric() && letter != '_');
    !words.any(|word| HANDED_OVER.contains(&word))
        && !OTHER_CALLS.iter().any(|mark| text.contains(mark))
        && !text.contains("\"/")
        && !text.contains("'/")
        && text.match_indices('(').all(|(at, _)| {
            let before = text.get(..at).unwrap_or_default().trim_end();
            let is_of_name =
                |letter: char| letter.is_alphanumeric() || matches!(letter, '_' | '.' | ':' | '!');
            let name = before.rsplit(|letter: char| !is_of_name(letter)).next().unwrap_or_default();
            name.is_empty() && !before.ends_with([')', ']', '}', '"', '\'']) || known.contains(&name)
        })
}

#[cfg(test)]
mod tests {
    use crate::reader::testing::effects;

    #[test]
    fn plain_calls_are_the_projects_own() {
        for line in [
            "Rscript -e 'testthat::test_dir(\"tests/testthat\")'",
            "Rscript -e 'x <- c(1, 2); print(mean(x))'",
            "R -e 'devtools::test()'",
            "julia -e 'println(sum(1:10))'",
            "julia --project=. -e 'using Pkg; Pkg.test()'",
        ] {
            let found = effects(line);
            assert!(found.iter().all(|effect| effect.starts_with("run-project")), "{line}: {found:?}");
        }
    }

    #[test]
    fn any_other_call_is_unknown() {
        for line in [
            "Rscript -e 'system(\"x\")'",
            "Rscript -e 'f <- system; f(\"x\")'",
            "Rscript -e '(system)(\"x\")'",
            "Rscript -e '`system`(\"x\")'",
            "Rscript -e '\"system\"(\"x\")'",
            "Rscript -e 'get(\"system\")(\"x\")'",
            "Rscript -e 'do.call(\"system\", list(\"x\"))'",
            "Rscript -e 'sapply(\"x\", system)'",
            "Rscript -e 'cat(readLines(\".env\"))'",
            "Rscript -e 'base::system(\"x\")'",
            "Rscript -e 'list(f=system)$f(\"x\")'",
            "julia -e 'run(`x`)'",
            "julia -e '\"x\" |> rm'",
            "julia -e 'rm.([\"x\"])'",
            "julia -e 'println(sum(rm, [\"x\"]))'",
            "julia -e 'write(\"a\", \"x\")'",
            "julia -e 'println(read(\".env\", String))'",
            "julia -e 'using Pkg; Pkg.add(\"x\")'",
            "julia -e '@eval x'",
            "julia -e 'println(ENV)'",
        ] {
            assert!(
                effects(line).iter().any(|effect| effect.starts_with("unknown")),
                "{line}: {:?}",
                effects(line)
            );
        }
    }
}
