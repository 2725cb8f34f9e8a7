//! Giving the rights of another user to something that nobody knows.
//!
//! With these rights a mistake reaches everything, so that only what is known may have them.
//! Run it without `sudo`, or run the known command that does the one thing that needs the rights.
//! Or name the program and say that it is to run with these rights.

use crate::act::Act;
use crate::case::Case;
use crate::effect::{Effect, ModuleUse, Target};
use crate::findings::{ExampleCall, Finding, Firmness, Severity, Sighting};

pub(super) static FINDING: Finding = Finding {
    code: "PC061",
    name: "raised-unknown",
    title: "gives the rights of another user to something unknown",
    category: "priv_escalation",
    severity: Severity::High,
    firmness: Firmness::Soft {
        verbs: &["sudo", "as root", "with root", "doas", "elevated"],
        must_name: "the program",
    },
    instead: "Run it without the rights of another user",
    hits: &[
        ExampleCall::Bash("sudo frobnicate"),
        ExampleCall::Bash("sudo frobnicate --all /srv"),
        ExampleCall::Bash("doas frobnicate x"),
        ExampleCall::Bash("sudo -E frobnicate"),
        ExampleCall::Bash("sudo sh -c 'frobnicate x'"),
        ExampleCall::Bash("pkexec frobnicate"),
        ExampleCall::Bash("sudo python3 -c 'import frobnicate'"),
        ExampleCall::Bash("sudo env A=b frobnicate"),
    ],
    misses: &[
        ExampleCall::Bash("frobnicate"),
        ExampleCall::Bash("sudo apt-get update"),
        ExampleCall::Bash("sudo systemctl status app"),
        ExampleCall::Bash("sudo cat /var/log/syslog"),
        ExampleCall::Bash("sudo -u postgres psql -l"),
        ExampleCall::Bash("sudo -n true"),
        ExampleCall::Bash("echo sudo frobnicate"),
        ExampleCall::Bash("man sudo"),
        ExampleCall::Bash("sudo ls /root"),
    ],
    filter,
};

fn is_module(effect: &Effect) -> bool {
    matches!(&effect.target, Target::Path(path) if path.module != ModuleUse::None)
}

fn filter(case: Case<'_>) -> Vec<Sighting> {
    // What a module does that code loads by its name is as unknown as a program.
    let is_unknown = |effect: &&Effect| effect.act == Act::Unknown || is_module(effect);
    let unknown = case.of(&[Act::Unknown, Act::Execute]).filter(is_unknown);
    let unknown = unknown.filter(|effect| case.is_raised(effect));
    unknown
        .take(1)
        .map(|effect| {
            let sentence = match effect.target.written() {
                "" => "it gives the rights of another user to something unknown".to_owned(),
                written => format!("it gives the rights of another user to what is not known: `{written}`"),
            };
            Sighting::of(case, effect, sentence)
        })
        .collect()
}
