//! Changing the running kernel.
//!
//! Modules and settings of the kernel are above every protection there is, and a wrong one stops the machine.
//! Look at settings without writing them, and let the person change them.
//! Or name the module or setting and say that it is to be changed.

use crate::act::Act;
use crate::case::Case;
use crate::findings::{Finding, Firmness, Sample, Severity, Sighting};

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
    hits: &[
        Sample::Bash("sudo mount -o remount,rw /boot"),
        Sample::Bash("insmod rootkit.ko"),
        Sample::Bash("sudo modprobe evil"),
        Sample::Bash("rmmod nvidia"),
        Sample::Bash("sysctl -w kernel.randomize_va_space=0"),
        Sample::Bash("sysctl -p"),
        Sample::Bash("modprobe -r kvm"),
        Sample::Bash("sysctl kernel.dmesg_restrict=0"),
        Sample::Bash("kexec -l /boot/vmlinuz"),
    ],
    misses: &[
        Sample::Bash("lsmod"),
        Sample::Bash("modinfo kvm"),
        Sample::Bash("sysctl -a"),
        Sample::Bash("sysctl kernel.ostype"),
        Sample::Bash("echo insmod x.ko"),
        Sample::Bash("uname -r"),
        Sample::Bash("git commit -m \"modprobe kvm\""),
        Sample::Bash("cat /proc/modules"),
        Sample::Bash("grep -rn sysctl docs"),
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
