//! `dd`, whose operands are `key=value`.

use super::CommandContext;
use super::{certain, possible};
use crate::act::Act;
use crate::argument::Argument;
use crate::profile::{Match, Use};

const KEYS: &[&str] = &[
    "bs", "cbs", "conv", "count", "files", "ibs", "iflag", "iseek", "obs", "oflag", "oseek", "seek", "skip",
    "speed", "status",
];

/// Devices that hold nothing.
const EMPTY_DEVICES: &[&str] = &["/dev/null", "/dev/stdout", "/dev/stderr", "/dev/tty", "/dev/zero"];

/// Reads the operands of `dd`.
pub(super) fn read(context: &CommandContext<'_>, _: &Match<'_>) -> Vec<Use> {
    context.invocation.operands().iter().filter_map(of_word).collect()
}

fn of_word(word: &Argument) -> Option<Use> {
    let Some((key, value)) = word.text.split_once('=') else {
        let asks = matches!(word.fixed(), Some("--help" | "--version" | "--"));
        return (!asks).then(|| possible(Act::Unknown, word));
    };
    let value = word.piece(value);
    match key {
        "if" => Some(certain(Act::Read, &value)),
        "of" if EMPTY_DEVICES.contains(&value.text.as_str()) => None,
        "of" if is_device(&value.text) => Some(certain(Act::Disk, &value)),
        "of" => Some(certain(Act::Write, &value)),
        _ if KEYS.contains(&key) => None,
        _ => Some(certain(Act::Unknown, word)),
    }
}

/// Says whether a path names a device with something on it.
pub(super) fn is_device(path: &str) -> bool {
    let normal = crate::path::normalize(path);
    let is_harmless =
        |rest: &str| rest.starts_with("fd/") || rest.starts_with("shm/") || rest.starts_with("pts/");
    normal.strip_prefix("/dev/").is_some_and(|rest| !is_harmless(rest))
        && !EMPTY_DEVICES.contains(&normal.as_str())
}

#[cfg(test)]
mod tests {
    use crate::reader::testing::effects;

    #[test]
    fn files_are_read_and_written_and_disks_overwritten() {
        assert_eq!(effects("dd if=a.img of=b.img bs=1M"), ["read a.img", "write b.img"]);
        assert_eq!(effects("dd if=/dev/zero of=/dev/sda"), ["disk /dev/sda", "read /dev/zero"]);
        assert_eq!(effects("dd if=/dev/zero of=/dev/../dev/sda"), ["disk /dev/../dev/sda", "read /dev/zero"]);
        assert_eq!(effects("dd if=a of=/dev/null"), ["read a"]);
        assert_eq!(effects("dd $x"), ["unknown $x"]);
    }
}
