//! Allow rules that hand over the keys: whoever may run an interpreter with any argument may run anything.
//!
//! Auto mode suspends them so that they cannot slip past the judge (spec D1), and the lints report them (spec C13).

use super::runner::{KUBECTL_ACTIONS, POWERSHELL_RUNNERS, REACHERS, RUNNERS, WRAPPERS};
use super::{Behavior, Matcher, Rule, ShellPattern, ToolPattern, Wildcard};

/// An argument no real rule spells out: a pattern that matches it leaves the argument open.
const ANY_ARGUMENT: &str = "\u{1}";

/// Says whether an allow rule would let almost anything run, so that auto mode must suspend it.
pub(crate) fn is_dangerous_allow(rule: &Rule) -> bool {
    if rule.behavior != Behavior::Allow {
        return false;
    }
    match &rule.matcher {
        Matcher::Tool(ToolPattern::Name(name)) => {
            matches!(name.as_str(), "Bash" | "PowerShell" | "Monitor" | "Agent" | "REPL")
        }
        Matcher::Shell { tool, pattern } => tool == "Monitor" || is_dangerous_pattern(tool, pattern),
        Matcher::Name { tool, .. } => tool == "Agent",
        Matcher::Tool(ToolPattern::Server(_) | ToolPattern::Glob(_))
        | Matcher::Path { .. }
        | Matcher::Domain(_)
        | Matcher::Parameter { .. } => false,
    }
}

/// Says whether a command runs whatever its arguments say: an interpreter, a shell, a runner of packages.
pub(crate) fn runs_anything(words: &[&str]) -> bool {
    let Some((program, arguments)) = words.split_first() else { return true };
    let plain = arguments.iter().filter(|word| !word.starts_with('-')).copied();
    let spelled = std::iter::once(program_name(program)).chain(plain).collect::<Vec<_>>().join(" ");
    RUNNERS.iter().any(|runner| begins_with(&spelled, runner))
}

fn is_dangerous_pattern(tool: &str, pattern: &ShellPattern) -> bool {
    if pattern.program().is_some_and(|program| is_ordinary(tool, program)) {
        return false;
    }
    let text = match pattern {
        ShellPattern::Exact(text) => return is_bare_runner(tool, text),
        ShellPattern::Prefix(prefix) => format!("{prefix} *"),
        ShellPattern::Wildcard(wildcard) => wildcard.as_str().to_owned(),
    };
    let text = if tool == "PowerShell" { text.to_lowercase() } else { text };
    let words: Vec<&str> = text.split_whitespace().collect();
    let words = without_wrappers(&words);
    is_open_runner(tool, words) || is_open_reacher(words)
}

/// Says whether a program begins none of the listed commands, so that no closer look is needed.
fn is_ordinary(tool: &str, program: &str) -> bool {
    let name = program_name(program);
    let begins = |command: &str| begins_with(command, name) || begins_with(command, program);
    let lists = REACHERS.iter().chain(WRAPPERS).copied();
    !runners(tool).chain(lists).any(begins)
}

/// Says whether a command's first word is this one, whatever the case.
fn begins_with(command: &str, word: &str) -> bool {
    // Most are told apart by their first letter.
    if let (Some(first), Some(wanted)) = (command.as_bytes().first(), word.as_bytes().first())
        && !first.eq_ignore_ascii_case(wanted)
    {
        return false;
    }
    command.get(..word.len()).is_some_and(|first| first.eq_ignore_ascii_case(word))
        && command.get(word.len()..).is_some_and(|rest| rest.is_empty() || rest.starts_with(' '))
}

/// Returns the words from the last one on that is not a wrapper, an option of one, or an assignment before it.
fn without_wrappers<'a, 'b>(words: &'a [&'b str]) -> &'a [&'b str] {
    let mut rest = words;
    while let [first, after @ ..] = rest {
        let is_skipped =
            WRAPPERS.contains(&program_name(first)) || (first.contains('=') && !first.contains('*'));
        // A wrapper that is followed by a wildcard is dangerous itself.
        if !is_skipped || after.first().is_none_or(|next| next.starts_with(['*', '-'])) {
            break;
        }
        rest = after;
    }
    rest
}

/// Returns the name a program is known by, without directories, version and `.exe`.
fn program_name(word: &str) -> &str {
    let name = word.rsplit('/').next().unwrap_or(word);
    let name = name.strip_suffix(".exe").unwrap_or(name);
    let unversioned = name.trim_end_matches(|character: char| character.is_ascii_digit() || character == '.');
    let is_versioned = unversioned.len() < name.len() && RUNNERS.contains(&unversioned);
    if is_versioned { unversioned } else { name }
}

fn is_bare_runner(tool: &str, text: &str) -> bool {
    let folded = if tool == "PowerShell" { text.to_lowercase() } else { text.to_owned() };
    let words: Vec<&str> = folded.split_whitespace().collect();
    match without_wrappers(&words) {
        [] => false,
        [program, rest @ ..] => {
            let spelled = [&[program_name(program)], rest].concat().join(" ");
            runners(tool).any(|runner| runner == spelled)
        }
    }
}

fn runners(tool: &str) -> impl Iterator<Item = &'static str> {
    let more: &[&str] = if tool == "PowerShell" { POWERSHELL_RUNNERS } else { &[] };
    RUNNERS.iter().chain(more).copied()
}

/// Says whether a pattern leaves the arguments of a runner open: `x *`, `x*`, `x -… *`, or a wildcard for `x` itself.
fn is_open_runner(tool: &str, words: &[&str]) -> bool {
    let Some((program, arguments)) = words.split_first() else { return false };
    let spelled = [&[program_name(program)], arguments].concat().join(" ");
    let pattern = Wildcard::new(&spelled);
    let name = program_name(program);
    // A literal program can only be the runner's own.
    let is_near = |runner: &&str| program.contains('*') || begins_with(runner, name);
    runners(tool).filter(is_near).any(|runner| {
        let leaves_open = pattern.matches(&format!("{runner} {ANY_ARGUMENT}"));
        let takes_place_of = program.contains('*') && Wildcard::new(program).matches(runner);
        let rest = spelled.strip_prefix(runner).and_then(|rest| rest.strip_prefix(' '));
        leaves_open
            || takes_place_of
            || rest.is_some_and(|rest| has_open_option(rest) || hands_on(tool, rest))
    })
}

/// Says whether what a runner is told to run leaves the arguments of another one open: `poetry run python *`.
fn hands_on(tool: &str, rest: &str) -> bool {
    let words: Vec<&str> = rest.split_whitespace().collect();
    is_open_runner(tool, &words)
}

/// Says whether the arguments begin with a wildcard, or with options and hold a wildcard.
fn has_open_option(arguments: &str) -> bool {
    arguments.starts_with('*') || (arguments.starts_with('-') && !Wildcard::new(arguments).is_literal())
}

fn is_open_reacher(words: &[&str]) -> bool {
    let Some((program, arguments)) = words.split_first() else { return false };
    let name = program_name(program);
    if !REACHERS.contains(&name) {
        return REACHERS.contains(&name.trim_end_matches('*')) && name.ends_with('*');
    }
    let first = arguments.iter().find(|argument| !argument.starts_with('-')).copied().unwrap_or("*");
    let computes = arguments.iter().any(|argument| argument.contains(['$', '`']));
    let names_url = arguments.iter().any(|argument| argument.contains("://"));
    match name {
        "curl" | "wget" => computes || !names_url,
        // Given a setting or an alias on the line, git runs any program.
        "git" => {
            computes || first.starts_with('*') || arguments.iter().any(|argument| argument.starts_with("-c"))
        }
        "gh" => computes || first.starts_with('*') || first.trim_end_matches('*') == "api",
        "kubectl" => {
            computes || first.starts_with('*') || KUBECTL_ACTIONS.contains(&first.trim_end_matches('*'))
        }
        _ => computes || first.starts_with('*'),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::origin::{Origin, Source};

    fn is_dangerous(text: &str, behavior: Behavior) -> bool {
        is_dangerous_allow(&Rule::compile(text, behavior, Origin::bare(Source::User)).unwrap())
    }

    #[test]
    fn rules_that_hand_over_the_keys_are_dangerous() {
        for text in [
            "Bash",
            "Bash(*)",
            "Bash( * )",
            "PowerShell",
            "Monitor",
            "Monitor(npm test)",
            "Agent",
            "Agent(Explore)",
            "Task(Explore)",
            "Bash(python)",
            "Bash(python:*)",
            "Bash(python*)",
            "Bash(python *)",
            "Bash(python -*)",
            "Bash(python -c *)",
            "Bash(python3 -m pytest *)",
            "Bash(python3.11 *)",
            "Bash(/usr/bin/python3 *)",
            "Bash(python * --help)",
            "Bash(node:*)",
            "Bash(bash -c:*)",
            "Bash(sh *)",
            "Bash(ssh *)",
            "Bash(ssh:*)",
            "Bash(npx:*)",
            "Bash(npm run:*)",
            "Bash(npm run *)",
            "Bash(npm *)",
            "Bash(yarn run *)",
            "Bash(eval *)",
            "Bash(xargs *)",
            "Bash(sudo:*)",
            "Bash(sudo python3 *)",
            "Bash(nohup *)",
            "Bash(timeout:*)",
            "Bash(devbox run *)",
            "Bash(docker:*)",
            "Bash(awk *)",
            "Bash(env A=1 bash *)",
            "Bash(* --version)",
            "Bash(py*)",
            "Bash(curl:*)",
            "Bash(curl -s *)",
            "Bash(wget*)",
            "Bash(kubectl *)",
            "Bash(kubectl exec *)",
            "Bash(aws:*)",
            "PowerShell(iex *)",
            "PowerShell(Invoke-Expression:*)",
            "PowerShell(pwsh.exe *)",
            "PowerShell(python *)",
            "PowerShell(Python.exe *)",
        ] {
            assert!(is_dangerous(text, Behavior::Allow), "{text}");
            assert!(!is_dangerous(text, Behavior::Deny), "{text}");
        }
    }

    #[test]
    fn rules_for_runners_of_any_language_and_for_git_are_dangerous() {
        for text in [
            "Bash(git:*)",
            "Bash(git *)",
            "Bash(git -C *)",
            "Bash(git -c *)",
            "Bash(gh:*)",
            "Bash(gh api *)",
            "Bash(poetry run:*)",
            "Bash(poetry run python *)",
            "Bash(pdm run *)",
            "Bash(go run *)",
            "Bash(go:*)",
            "Bash(julia:*)",
            "Bash(Rscript -e *)",
            "Bash(bundle exec *)",
            "Bash(cargo run:*)",
            "Bash(cargo:*)",
            "Bash(dotnet run *)",
            "Bash(mix run *)",
            "Bash(./gradlew *)",
            "Bash(mvn:*)",
            "Bash(nix run *)",
        ] {
            assert!(is_dangerous(text, Behavior::Allow), "{text}");
        }
    }

    #[test]
    fn narrow_rules_are_not_dangerous() {
        for text in [
            "Bash(npm test)",
            "Bash(npm test *)",
            "Bash(npm run build)",
            "Bash(npm run build *)",
            "Bash(npm install:*)",
            "Bash(python manage.py test)",
            "Bash(python manage.py *)",
            "Bash(python --version)",
            "Bash(python -c \"print(1)\")",
            "Bash(git status:*)",
            "Bash(git commit *)",
            "Bash(git push origin:*)",
            "Bash(gh pr view:*)",
            "Bash(poetry run pytest *)",
            "Bash(bundle exec rspec *)",
            "Bash(go test *)",
            "Bash(./gradlew test *)",
            "Bash(mvn test)",
            "Bash(make *)",
            "Bash(ls *)",
            "Bash(shellcheck *)",
            "Bash(nodemon *)",
            "Bash(pythonista)",
            "Bash(cargo test *)",
            "Bash(docker ps *)",
            "Bash(nohup npm test)",
            "Bash(sudo systemctl status nginx)",
            "Bash(curl https://example.com/*)",
            "Bash(kubectl get *)",
            "Bash(aws s3 ls *)",
            "PowerShell(Get-ChildItem *)",
            "Read",
            "Edit(src/**)",
            "WebFetch(domain:docs.rs)",
            "mcp__github__*",
            "Skill(review *)",
        ] {
            assert!(!is_dangerous(text, Behavior::Allow), "{text}");
        }
    }
}
