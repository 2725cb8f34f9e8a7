//! Signs that only mean something together: a connection joined to a shell, copies made in a loop without end.

use super::CodeReader;
use crate::act::Act;
use crate::code::tree::{CodeItem, CodeTree};
use crate::code::{CodeReading, CodeTarget};

/// What was seen anywhere in a program.
#[derive(Debug, Default)]
#[expect(clippy::struct_excessive_bools, reason = "each is one sign, and they are only read together")]
pub(super) struct Signs {
    /// A connection is made or taken.
    pub(super) connects: bool,
    /// The standard streams are joined to something else.
    pub(super) redirects: bool,
    /// A shell is started.
    pub(super) shell: bool,
    /// What came over the network is run.
    pub(super) runs_received: bool,
    /// The process is copied.
    pub(super) forks: bool,
    /// There is a loop without end.
    pub(super) loops: bool,
    /// Files are searched for.
    pub(super) walks: bool,
    /// A request carries something that is only known at run time.
    pub(super) carries: bool,
    /// Environment variables are looked at.
    pub(super) takes_variables: bool,
    /// Something is encrypted.
    pub(super) encrypts: bool,
    /// Code of the project is handed something that is only known at run time.
    pub(super) hands_unknown: bool,
}

impl Signs {
    /// Notes the name of something that is called.
    pub(super) fn note_call(&mut self, name: &str) {
        let last = name.rsplit(['.', ':']).next().unwrap_or(name);
        self.walks |= matches!(
            last,
            "walk"
                | "listdir"
                | "scandir"
                | "glob"
                | "iglob"
                | "rglob"
                | "readdir"
                | "readdirSync"
                | "find"
                | "opendir"
        );
        self.encrypts |=
            matches!(last, "encrypt" | "createCipheriv" | "openssl_encrypt" | "encrypt_file" | "encryptFile")
                || name == "cryptography.fernet.Fernet";
    }
}

/// Adds what a module is only ever loaded for.
pub(super) fn note_load(module: &str, out: &mut CodeReading) {
    let top = module.split(['.', '/', ':']).next().unwrap_or(module);
    if matches!(top, "pynput" | "keyboard" | "pyautogui" | "pyscreenshot" | "mss" | "scapy" | "iohook") {
        out.add(Act::Capture, CodeTarget::None);
    }
}

impl CodeReader<'_> {
    /// Draws what the signs mean together.
    pub(super) fn conclude(&mut self) {
        let signs = &self.signs;
        // None of these alone is wrong; a shell whose streams are a connection hands the machine over.
        let hands_over = signs.shell && signs.redirects || signs.runs_received;
        if signs.connects && hands_over {
            self.out.add(Act::RemoteShell, CodeTarget::None);
        }
        if signs.forks && signs.loops {
            self.out.add(Act::Exhaust, CodeTarget::None);
        }
        let takes = |act: Act| matches!(act, Act::Read | Act::Environment | Act::SecretRead);
        // A fetch may carry data out in its address.
        let runs = !self.out.shell_texts.is_empty() || !self.out.commands.is_empty();
        let has_taken =
            signs.takes_variables || runs || self.out.actions.iter().any(|action| takes(action.act));
        let is_carried = signs.carries && has_taken;
        let spoils =
            self.out.actions.iter().any(|action| matches!(action.act, Act::Write | Act::Delete | Act::Move));
        // Going over files, encrypting and overwriting them is what ransomware does.
        if signs.walks && signs.encrypts && spoils {
            self.out.add(Act::Malware, CodeTarget::None);
        }
        if is_carried {
            self.gap("may put what it read into a request".to_owned());
        }
    }
}

/// Says whether the loop at a place never ends by its condition.
pub(super) fn is_endless(tree: &CodeTree, group: usize, at: usize) -> bool {
    let is_truth = |item: &CodeItem| match item {
        CodeItem::Name(name) => matches!(name.as_str(), "True" | "true" | "fork"),
        CodeItem::Number(number) => number != "0",
        _ => false,
    };
    match (tree.item(group, at), tree.item(group, at + 1)) {
        (Some(CodeItem::Name(word)), _) if word == "loop" => true,
        (Some(CodeItem::Name(word)), Some(CodeItem::Group('(', inner))) => {
            let items = tree.items(*inner);
            let is_empty = items.iter().all(|token| token.item.is_mark(";"));
            is_empty
                || (word == "while"
                    && items.first().is_some_and(|token| is_truth(&token.item))
                    && items.len() <= 3)
        }
        (Some(CodeItem::Name(word)), Some(item)) => word == "while" && is_truth(item),
        _ => false,
    }
}
