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
    let runs = |invocation: &&Invocation| scripts(invocation).iter().any(|script| written.contains(*script));
    invocations.iter().find(runs).map(|invocation| invocation.span)
}

/// Returns the files an invocation may run: its program if that is a path, or what a shell is given.
fn scripts(invocation: &Invocation) -> Vec<&str> {
    let Some(program) = invocation.program().and_then(Argument::fixed) else {
        return Vec::new();
    };
    if program.contains('/') && !program.starts_with("/bin/") && !program.starts_with("/usr/") {
        return vec![base_name(program)];
    }
    let name = program_name(program);
    let runs_script = is_shell(&name) || matches!(name.as_str(), "source" | ".");
    let operands = invocation.operands().iter().filter(|_| runs_script).filter_map(Argument::fixed);
    operands.filter(|word| !word.contains(char::is_whitespace)).map(base_name).collect()
}
