//! Destroying disks, partitions or the content of files beyond recovery.
//!
//! What is written to a device or formatted is gone at once, with everything that was on it.
//! Work on an image file in the project or among temporary files.
//! Or name the device and say what is to be done to it.

use crate::act::Act;
use crate::case::Case;
use crate::effect::Effect;
use crate::findings::{ExampleCall, Finding, Firmness, Severity, Sighting};
use crate::invocation::Invocation;
use crate::place::{is_device, is_windows_system};

pub(super) static FINDING: Finding = Finding {
    code: "PC004",
    name: "disk-destruction",
    title: "destroys disks or overwrites files beyond recovery",
    category: "irreversible_local",
    severity: Severity::Critical,
    firmness: Firmness::Soft {
        verbs: &["format", "partition", "wipe", "shred", "overwrite", "erase", "mkfs", "dd"],
        must_name: "the device or file",
    },
    instead: "Work on an image file inside the project, as in `dd if=/dev/zero of=disk.img bs=1M count=8`",
    hits: &[
        ExampleCall::PowerShell("format D: /q"),
        ExampleCall::PowerShell("Get-CimInstance Win32_ShadowCopy | Remove-CimInstance"),
        ExampleCall::Bash("mkfs.ext4 /dev/sda1"),
        ExampleCall::Bash("dd if=/dev/zero of=/dev/sda bs=1M"),
        ExampleCall::Bash("cat image.iso > /dev/nvme0n1"),
        ExampleCall::Bash("shred -u notes.txt"),
        ExampleCall::Bash("sudo wipefs -a /dev/sdb"),
        ExampleCall::Bash("cp /dev/zero /dev/vda"),
        ExampleCall::Bash("parted /dev/sda mklabel gpt"),
        ExampleCall::Bash("tee /dev/sdc < image.iso"),
        ExampleCall::Bash("echo x > /dev/mem"),
    ],
    misses: &[
        ExampleCall::PowerShell("Get-WmiObject Win32_ShadowCopy"),
        ExampleCall::Bash("dd if=/dev/zero of=/tmp/disk.img bs=1M count=8"),
        ExampleCall::Bash("mkfs.ext4 /tmp/disk.img"),
        ExampleCall::Bash("dd if=a.bin of=b.bin"),
        ExampleCall::Bash("echo x > /dev/null"),
        ExampleCall::Bash("lsblk -f"),
        ExampleCall::Bash("echo mkfs.ext4 /dev/sda1"),
        ExampleCall::Bash("shred -u /tmp/app-secret.txt"),
        ExampleCall::Bash("grep -n mkfs docs/install.md"),
        ExampleCall::Bash("dd if=/dev/sda of=/dev/null count=1"),
    ],
    filter,
};

fn filter(case: Case<'_>) -> Vec<Sighting> {
    let destroys = |effect: &&Effect| match effect.act {
        Act::Disk => !case.is_own_place(effect) || is_windows_system(effect.target.written()),
        Act::Wipe => !effect.target.is_path_with(|path| case.scope.is_temporary(path)),
        Act::Delete | Act::DeleteTree if removes_shadow_copies(case, effect) => true,
        _ => effect.target.paths().iter().any(|path| is_device(path)),
    };
    case.of(&[Act::Disk, Act::Wipe, Act::Write, Act::Move, Act::Delete, Act::DeleteTree])
        .filter(destroys)
        .map(|effect| {
            let sentence = match effect.target.written() {
                "" => "it destroys what is on a disk".to_owned(),
                written => format!("it destroys what is on `{written}`"),
            };
            Sighting::of(case, effect, sentence)
        })
        .collect()
}

/// Says whether what the management service lists of shadow copies is removed.
fn removes_shadow_copies(case: Case<'_>, effect: &Effect) -> bool {
    let lists = |command: &Invocation| {
        let mut words = command.operands().iter();
        words.any(|word| word.text.to_ascii_lowercase().contains("win32_shadowcopy"))
    };
    let removes =
        matches!(case.program(effect), ".delete" | ".delete_" | "remove-wmiobject" | "remove-ciminstance");
    removes && case.survey.invocations.iter().any(lists)
}
