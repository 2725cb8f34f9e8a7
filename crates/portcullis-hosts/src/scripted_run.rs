//! How the real program of a host is started with a scripted model in the place of its own, while the settings of its user
//! stay as they are. Pure data; `portcullis doctor --prove` starts it.

use serde_json::Value;

/// What the program is asked to do. The scripted model does not read it.
pub(crate) const PROMPT: &str = "Do what the script says.";

/// The model and the provider that are named where a host wants a name, and the key that nobody looks at.
pub(crate) const NAME: &str = "portcullis-trial";

/// A run without a person. In every text `@URL@` stands for the address of the model, without a path, and `@FOLDER@` for
/// the folder that the program is started in.
#[derive(Debug)]
pub struct ScriptedRun {
    /// The arguments.
    pub arguments: &'static [&'static str],
    /// The variables of the environment.
    pub variables: &'static [(&'static str, &'static str)],
    /// The files that must be in the folder: their paths below it, and their texts.
    pub files: &'static [(&'static str, &'static str)],
    /// The tool that runs a command, as the host's model calls it.
    pub tool: &'static str,
    /// Makes its input for a command.
    pub input: fn(&str) -> Value,
    /// Whether the host runs a command that an answer of ours gives it in place of its own.
    pub takes_command: bool,
}

impl ScriptedRun {
    /// Fills in a text of the run.
    pub fn fill(text: &str, url: &str, folder: &str) -> String {
        text.replace("@URL@", url).replace("@FOLDER@", folder)
    }
}
