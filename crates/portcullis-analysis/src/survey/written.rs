//! Scripts that a command line writes and then runs: what is in them is not followed.

use std::collections::BTreeSet;

use portcullis_shell::Span;

use crate::access;
use crate::argument::Argument;
use crate::interpreter::is_shell;
use crate::invocation::{Access, Invocation, base_name};
use crate::wrapper::program_name;

/// Finds an invocation that runs a file which another one writes.
pub(super) fn find_written_script(invocations: &[Invocation]) -> Option<Span> {
    let mut written: BTreeSet<String> = BTreeSet::new();
    for invocation in invocations {
        let redirected = invocation.redirections.iter().filter(|to| to.access == Access::Write);
        written.extend(redirected.map(|to| base_name(&to.target.text).to_owned()));
        let files = access::files(invocation).unwrap_or_default().into_iter();
        let files = files.chain(access::outputs(invocation)).filter(|file| file.access == Access::Write);
        written.extend(files.map(|file| base_name(&file.file.text).to_owned()));
    }
    // A loop or a function may run what stands further on in the text, from another directory.
    let runs = |invocation: &&Invocation| script(invocation).is_some_and(|script| written.contains(script));
    invocations.iter().find(runs).map(|invocation| invocation.span)
}

/// Returns the file an invocation runs: its program if that is a path, or the script of a shell.
fn script(invocation: &Invocation) -> Option<&str> {
    let program = invocation.program()?.fixed()?;
    if program.contains('/') && !program.starts_with("/bin/") && !program.starts_with("/usr/") {
        return Some(base_name(program));
    }
    let name = program_name(program);
    let runs_script = is_shell(&name) || matches!(name.as_str(), "source" | ".");
    let operand = invocation.operands().iter().find(|word| !word.is_option());
    operand.filter(|_| runs_script).and_then(Argument::fixed).map(base_name)
}
