//! Options that stand between a program and its subcommand: `git -C dir push`.

use crate::argument::Argument;

/// The options of a program that stand before its subcommand.
#[derive(Debug)]
pub struct GlobalOptions {
    name: &'static str,
    valued: &'static [&'static str],
}

const PROGRAMS: &[GlobalOptions] = &[
    GlobalOptions {
        name: "git",
        valued: &[
            "-C",
            "-c",
            "--git-dir",
            "--work-tree",
            "--namespace",
            "--super-prefix",
            "--config-env",
            "--attr-source",
        ],
    },
    GlobalOptions {
        name: "docker",
        valued: &[
            "-c",
            "--context",
            "-H",
            "--host",
            "-l",
            "--log-level",
            "--config",
            "--tlscacert",
            "--tlscert",
            "--tlskey",
        ],
    },
    GlobalOptions { name: "gh", valued: &["-R", "--repo", "--hostname"] },
    GlobalOptions { name: "cargo", valued: &["--color", "--config", "-Z", "-C", "--explain"] },
];

/// Finds the options of a program by its plain name in lower case.
pub fn find(name: &str) -> Option<&'static GlobalOptions> {
    PROGRAMS.iter().find(|options| options.name == name)
}

impl GlobalOptions {
    /// Says whether the value of an option is the next word.
    pub fn takes_value(&self, option: &Argument) -> bool {
        self.valued.contains(&option.text.as_str())
    }

    /// Says whether a word chooses a toolchain: `cargo +nightly publish`.
    pub fn is_toolchain(&self, word: &Argument) -> bool {
        self.name == "cargo" && word.text.starts_with('+')
    }

    /// Says whether an option can make a subcommand mean something else: `git -c alias.x=push x`.
    pub fn rewrites(&self, option: &Argument, value: Option<&Argument>) -> bool {
        let is_alias = |text: &str| text.to_ascii_lowercase().contains("alias.");
        self.name == "git"
            && match option.text.as_str() {
                "-c" | "--config-env" => value.is_none_or(|value| !value.is_known() || is_alias(&value.text)),
                text => text.starts_with("--config-env=") && is_alias(text),
            }
    }

    /// Counts the words of the options between program and subcommand.
    pub fn skip(&self, words: &[Argument]) -> usize {
        let mut place = 1;
        while let Some(word) = words.get(place).filter(|word| word.is_option()) {
            place += 1 + usize::from(self.takes_value(word));
        }
        place - 1
    }
}
