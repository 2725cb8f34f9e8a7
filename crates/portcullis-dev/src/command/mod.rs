//! The commands of `cargo dev`, one file each. The table is also the help text.

mod bench;
mod check;
mod clients;
mod draft_options;
mod fuzz;
mod generate;
mod hook_bench;
mod hook_functions;
mod hot_functions;
mod house;
mod instructions;
mod load;
mod overhead;
mod package;
mod prerequisites;
mod real_model;
mod recollection;
mod test;

use anyhow::{Result, bail};

use crate::output;

struct CommandInfo {
    name: &'static str,
    summary: &'static str,
    run: fn(&[String]) -> Result<()>,
}

const COMMANDS: &[CommandInfo] = &[
    CommandInfo {
        name: "test",
        summary: "install what the tests need and run them all; arguments go to `cargo test`",
        run: test::run,
    },
    CommandInfo {
        name: "check",
        summary: "formatting, lints, generated files; changes nothing",
        run: check::run,
    },
    CommandInfo {
        name: "clients",
        summary: "install the real agents for the end-to-end tests in target/clients; `test` does it too",
        run: clients::run,
    },
    CommandInfo {
        name: "generate-all",
        summary: "write the generated reference pages; `--mode check` only compares",
        run: generate::run,
    },
    CommandInfo {
        name: "bench",
        summary: "run the time benchmarks; arguments go to them as a filter",
        run: bench::run,
    },
    CommandInfo {
        name: "draft-options",
        summary: "[--root DIR] [--help-texts DIR] [--draft] NAME...: options of programs that their profiles do not list",
        run: draft_options::run,
    },
    CommandInfo {
        name: "house",
        summary: "[--tree DIR] [--names] [--write]: figures of the tree, names that stand for several types, the page",
        run: house::run,
    },
    CommandInfo {
        name: "instructions",
        summary: "count instructions with valgrind and compare with benches/instructions.toml; `--write` renews it",
        run: instructions::run,
    },
    CommandInfo {
        name: "overhead",
        summary: "[--runs N]: time from the start of a hook to its request at the model, as packages are built",
        run: overhead::run,
    },
    CommandInfo {
        name: "hook-bench",
        summary: "[--runs N] [--peers] [--program PATH]: time one hook call beside /bin/true and other guards",
        run: hook_bench::run,
    },
    CommandInfo {
        name: "hook-functions",
        summary: "write the linker script that puts the functions of a hook side by side; needs valgrind and lld",
        run: hook_functions::run,
    },
    CommandInfo {
        name: "load",
        summary: "[--seconds N] [--connections N] [--approvals N] [--kills N] [--batch N] [--store files|postgres]: a daemon under load",
        run: load::run,
    },
    CommandInfo {
        name: "real-model",
        summary: "[--scripted]: drive check, hook and the self-test with a real small model, which must be refused; builds its server first",
        run: real_model::run,
    },
    CommandInfo {
        name: "recollection",
        summary: "[--mode MODE] [--source NAME] [--list] SESSIONS DANGEROUS: questions that a memory of a yes would have ended",
        run: recollection::run,
    },
    CommandInfo {
        name: "package",
        summary: "[--arch x86_64|aarch64]: build the static program and pack a release into target/package",
        run: package::run,
    },
    CommandInfo {
        name: "fuzz",
        summary: "TARGET [--seconds N]: run a fuzz target on the stable toolchain",
        run: fuzz::run,
    },
];

/// Runs the command that the first argument names.
pub fn run(arguments: &[String]) -> Result<()> {
    let Some((name, rest)) = arguments.split_first() else {
        print_help();
        bail!("no command given");
    };
    if matches!(name.as_str(), "help" | "--help" | "-h") {
        print_help();
        return Ok(());
    }
    if let Some(command) = COMMANDS.iter().find(|command| command.name == name) {
        return (command.run)(rest);
    }
    print_help();
    bail!("unknown command `{name}`");
}

fn print_help() {
    output::say("usage: cargo dev COMMAND [ARGUMENTS]\n");
    for command in COMMANDS {
        output::say(&format!("  {:<14} {}", command.name, command.summary));
    }
}
