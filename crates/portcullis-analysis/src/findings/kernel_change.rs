//! Changing the running kernel.
//!
//! Modules and settings of the kernel are above every protection there is, and a wrong one stops the machine.
//! Look at settings without writing them, and let the person change them.
//! Or name the module or setting and say that it is to be changed.

use crate::act::Act;
use crate::case::Case;
use crate::findings::{ExampleCall, Finding, Firmness, Severity, Sighting};

pub(super) static FINDING: Finding = Finding {
    code: "PC050",
    name: "kernel-change",
    title: "changes the running kernel",
    category: "priv_escalation",
    severity: Severity::Critical,
    firmness: Firmness::Soft {
        verbs: &["load", "unload", "sysctl", "module", "kernel", "set"],
        must_name: "the module or setting",
    },
    instead: "Look at the settings with `sysctl -a`, and tell the user which one to change",
    hits: &[
        ExampleCall::Bash("sudo mount -o remount,rw /boot"),
        ExampleCall::Bash("insmod rootkit.ko"),
        ExampleCall::Bash("sudo modprobe evil"),
        ExampleCall::Bash("rmmod nvidia"),
        ExampleCall::Bash("sysctl -w kernel.randomize_va_space=0"),
        ExampleCall::Bash("sysctl -p"),
        ExampleCall::Bash("modprobe -r kvm"),
        ExampleCall::Bash("sysctl kernel.dmesg_restrict=0"),
        ExampleCall::Bash("kexec -l /boot/vmlinuz"),
    ],
    misses: &[
        ExampleCall::Bash("lsmod"),
        ExampleCall::Bash("modinfo kvm"),
        ExampleCall::Bash("sysctl -a"),
        ExampleCall::Bash("sysctl kernel.ostype"),
        ExampleCall::Bash("echo insmod x.ko"),
        ExampleCall::Bash("uname -r"),
        ExampleCall::Bash("git commit -m \"modprobe kvm\""),
        ExampleCall::Bash("cat /proc/modules"),
        ExampleCall::Bash("grep -rn sysctl docs"),
    ],
    filter,
};

fn filter(case: Case<'_>) -> Vec<Sighting> {
    case.of(&[Act::Kernel, Act::Mount])
        .map(|effect| {
            let sentence = match effect.target.written() {
                written if effect.act == Act::Mount => {
                    format!("it mounts or unmounts a file system: `{written}`")
                }
                "" => "it changes the running kernel".to_owned(),
                written => format!("it changes the running kernel: `{written}`"),
            };
            Sighting::of(case, effect, sentence)
        })
        .collect()
}
