//! Builtins of the shell that set, read and forget variables.

use super::CommandContext;
use super::{certain, has, nameless, possible};
use crate::act::Act;
use crate::argument::{Argument, Knowledge};
use crate::environment::{Assignment, VariableReach, VariableUse, is_harmless_assignment, is_obeyed};
use crate::profile::{self, Match, Use};

/// Reads `export`, `declare`, `readonly` and `local`.
pub(super) fn declare(context: &CommandContext<'_>, found: &Match<'_>) -> Vec<Use> {
    let mut uses = found.uses.clone();
    if has(found, &["-p"]) {
        uses.extend(found.wanted.operands.iter().map(|operand| certain(Act::Environment, operand)));
        if !found.wanted.operands.is_empty() {
            return uses;
        }
    }
    let is_shown = found.wanted.operands.is_empty() && context.invocation.program_name() != Some("local");
    if is_shown && !has(found, &["-f", "-F"]) {
        uses.push(nameless(Act::Environment));
    }
    let evaluates = has(found, &["-i"]);
    let are_functions = has(found, &["-f"]);
    let is_exported = context.invocation.program_name() == Some("export") || has(found, &["-x"]);
    for operand in &found.wanted.operands {
        let name = operand.text.split(['=', '+']).next().unwrap_or_default();
        let reaches = is_exported || context.variables.exports(name);
        let reach = if reaches { VariableReach::Programs } else { VariableReach::Shell };
        // A function that is handed on under a program's name takes its place in every shell started later.
        let replaces = are_functions && profile::find(&operand.text).is_some();
        if replaces {
            uses.push(certain(Act::LoadCode, operand));
        } else {
            uses.extend(assigned(context, operand, evaluates, reach));
        }
    }
    uses
}

/// Reads one `NAME=VALUE` or `NAME`.
fn assigned(
    context: &CommandContext<'_>,
    operand: &Argument,
    evaluates: bool,
    reach: VariableReach,
) -> Vec<Use> {
    let Some((name, text)) = operand.text.split_once('=') else {
        return named(operand).into_iter().collect();
    };
    let name = name.strip_suffix('+').unwrap_or(name);
    if !is_name(name) {
        // A subscript is evaluated, and what is expanded there may run commands.
        return vec![certain(Act::Unknown, operand)];
    }
    let value = operand.piece(text);
    let is_set_here = |name: &str| context.variables.sets(name);
    let assignment = Assignment { name, value: &value, reach, home: context.home, is_set_here: &is_set_here };
    let on_word = |found: VariableUse| certain(found.act, found.place.as_ref().unwrap_or(operand));
    let uses: Vec<Use> = assignment.uses().into_iter().map(on_word).collect();
    if !uses.is_empty() {
        return uses;
    }
    let is_number = text.chars().all(|letter| letter.is_ascii_digit());
    if evaluates && !is_number {
        return vec![certain(Act::Unknown, operand)];
    }
    // Programs that run later obey it: that is more than looking.
    if is_harmless_assignment(name) { Vec::new() } else { vec![certain(Act::RunProject, operand)] }
}

/// Reads builtins whose operands are names: `read`, `mapfile`, `unset`.
pub(super) fn names(context: &CommandContext<'_>, found: &Match<'_>) -> Vec<Use> {
    let mut uses = found.uses.clone();
    let forgets = context.invocation.program_name() == Some("unset");
    for operand in &found.wanted.operands {
        if !forgets && is_obeyed(&operand.text) {
            uses.push(certain(Act::Unknown, operand));
        }
        let hides = forgets && operand.text.starts_with("HIST");
        uses.extend(if hides { Some(certain(Act::TamperLog, operand)) } else { named(operand) });
    }
    uses
}

/// Reads `let`. A subscript is evaluated, and what is expanded there may run commands.
pub(super) fn calculate(_: &CommandContext<'_>, found: &Match<'_>) -> Vec<Use> {
    let is_plain = |word: &&Argument| word.fixed().is_some_and(|text| !text.contains(['[', '$', '`']));
    found
        .wanted
        .operands
        .iter()
        .filter(|word| !is_plain(word))
        .map(|word| certain(Act::Unknown, word))
        .collect()
}

/// Reads `getopts`, whose second operand is a name.
pub(super) fn getopts(_: &CommandContext<'_>, found: &Match<'_>) -> Vec<Use> {
    let mut uses = found.uses.clone();
    uses.extend(found.wanted.operands.get(1).and_then(named));
    uses
}

/// Reads `wait`, which may note the process in a variable.
pub(super) fn wait(_: &CommandContext<'_>, found: &Match<'_>) -> Vec<Use> {
    let mut uses = found.uses.clone();
    let variables = found.wanted.options.iter().filter(|(option, _)| *option == "-p");
    uses.extend(variables.filter_map(|(_, name)| name.as_ref()).filter_map(named));
    uses
}

/// Reads `ps`, which shows the variables of processes where an `e` stands among the letters without a dash.
pub(super) fn processes(_: &CommandContext<'_>, found: &Match<'_>) -> Vec<Use> {
    let mut uses = found.uses.clone();
    let is_letters = |word: &&Argument| word.text.chars().all(|letter| letter.is_ascii_lowercase());
    let letters = found.wanted.operands.first().filter(is_letters);
    uses.extend(letters.filter(|word| word.text.contains('e')).map(|_| nameless(Act::Environment)));
    uses
}

fn named(operand: &Argument) -> Option<Use> {
    match operand.knowledge {
        Knowledge::Fixed if is_name(&operand.text) => None,
        Knowledge::Fixed => Some(certain(Act::Unknown, operand)),
        Knowledge::Tilde | Knowledge::Glob | Knowledge::Dynamic => Some(possible(Act::Unknown, operand)),
    }
}

fn is_name(text: &str) -> bool {
    !text.is_empty()
        && !text.starts_with(|letter: char| letter.is_ascii_digit())
        && text.chars().all(|letter| letter.is_ascii_alphanumeric() || letter == '_')
}

#[cfg(test)]
mod tests {
    use crate::reader::testing::effects;

    #[test]
    fn plain_variables_do_nothing_and_steering_ones_say_so() {
        assert!(effects("export NAME=me COUNT=\"$x\"").is_empty());
        assert!(effects("local x=1 y").is_empty());
        assert_eq!(effects("read PATH"), ["unknown PATH"]);
        assert_eq!(effects("export GIT_TRACE=/home/me/x"), ["write /home/me/x"]);
        assert_eq!(effects("export LD_PRELOAD=./evil.so"), ["load-code LD_PRELOAD=./evil.so"]);
        assert_eq!(effects("export HISTFILE=/dev/null"), ["tamper-log HISTFILE=/dev/null"]);
        assert_eq!(effects("export PATH=/usr/local/bin:/bin"), ["run-project PATH=/usr/local/bin:/bin"]);
        assert_eq!(effects("export PATH=/opt/x:/bin"), ["unknown PATH=/opt/x:/bin"]);
        assert_eq!(effects("export ACME_CONFIG=conf/x.yml"), ["execute conf/x.yml"]);
        assert!(effects("declare ACME=/opt/x").is_empty() && !effects("declare -x ACME=/opt/x").is_empty());
        assert!(!effects("ACME=/opt/x; export ACME").is_empty());
        assert_eq!(effects("export -p"), ["environment"]);
        assert_eq!(effects("export -f ls"), ["load-code ls"]);
        assert!(effects("export -f my_function").is_empty());
    }

    #[test]
    fn what_may_be_evaluated_is_unknown() {
        assert_eq!(effects("declare -i 'x=a[y]'"), ["unknown x=a[y]"]);
        assert_eq!(effects("declare 'x[y]=1'"), ["unknown x[y]=1"]);
        assert_eq!(effects("read -r 'x[y]'"), ["unknown x[y]"]);
        assert_eq!(effects("let 'x=a[y]'"), ["unknown x=a[y]"]);
        assert!(effects("let x=1+2 y++").is_empty());
        assert!(effects("read -r -p 'Name: ' name rest").is_empty());
    }

    #[test]
    fn forgetting_the_history_file_is_tampering() {
        assert_eq!(effects("unset HISTFILE"), ["tamper-log HISTFILE"]);
        assert!(effects("unset NAME").is_empty());
    }
}
