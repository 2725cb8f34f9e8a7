//! As whom, where and in what a command runs, by the commands that wrap it.

use portcullis_analysis::effect::{Act, Effect};
use portcullis_analysis::{Invocation, Survey};

use super::quote::quote;

/// What wrappers change about a command.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Default)]
pub(crate) struct Circumstance {
    user: Option<String>,
    host: Option<String>,
    is_contained: bool,
}

/// Programs that run a command as another user.
const ELEVATORS: &[&str] =
    &["doas", "gosu", "pkexec", "run0", "runuser", "su", "sudo", "sudo-rs", "sudoedit"];

/// Programs that run a command in a container or pod.
const CONTAINERS: &[&str] = &["docker", "incus", "kubectl", "lxc", "nerdctl", "oc", "podman"];

/// The longest name of a user or host that is quoted.
const LONGEST_NAME: usize = 40;

impl Circumstance {
    /// Returns the words before “it”: “as root, ”. Empty if nothing is changed.
    pub(crate) fn words(&self) -> String {
        let user = self.user.iter().map(|user| format!("as {user}"));
        let host = self.host.iter().map(|host| format!("on {host}"));
        let container = self.is_contained.then(|| "in a container".to_owned());
        let all: Vec<String> = user.chain(host).chain(container).collect();
        if all.is_empty() { String::new() } else { format!("{}, ", all.join(" ")) }
    }

    /// Returns what holds for the commands that an invocation wraps.
    fn inside(&self, wrapper: &Invocation, host: Option<&str>) -> Self {
        let mut inner = self.clone();
        match wrapper.program_name() {
            Some(name) if ELEVATORS.contains(&name) => inner.user = Some(user_of(wrapper)),
            Some(name) if CONTAINERS.contains(&name) => inner.is_contained = true,
            _ => {}
        }
        if let Some(host) = host {
            inner.host =
                Some(if host.is_empty() { "another machine".to_owned() } else { quote(host, LONGEST_NAME) });
        }
        inner
    }
}

/// The circumstances of every command, and which commands only make them.
pub(crate) struct Circumstances {
    all: Vec<Circumstance>,
    has_inner: Vec<bool>,
}

impl Circumstances {
    /// Works out the circumstances of every command of a line.
    pub(crate) fn of(survey: &Survey, effects: &[Effect]) -> Self {
        let count = survey.invocations.len();
        let mut hosts: Vec<Option<&str>> = vec![None; count];
        for effect in effects.iter().filter(|effect| effect.act == Act::RemoteRun) {
            if let Some(host) = effect.invocation.and_then(|place| hosts.get_mut(place)) {
                *host = Some(effect.target.written());
            }
        }
        let mut all: Vec<Circumstance> = Vec::with_capacity(count);
        let mut has_inner = vec![false; count];
        for invocation in &survey.invocations {
            // A wrapper stands before what it wraps.
            let outer = invocation.parent.and_then(|parent| {
                let wrapper = survey.invocations.get(parent)?;
                let host = hosts.get(parent).copied().flatten();
                all.get(parent).map(|circumstance| circumstance.inside(wrapper, host))
            });
            if let Some(inner) = invocation.parent.and_then(|parent| has_inner.get_mut(parent)) {
                *inner = true;
            }
            all.push(outer.unwrap_or_default());
        }
        Self { all, has_inner }
    }

    /// Returns the circumstance of an effect.
    pub(crate) fn of_effect(&self, effect: &Effect) -> Circumstance {
        effect.invocation.and_then(|place| self.all.get(place)).cloned().unwrap_or_default()
    }

    /// Says whether an effect is told by the circumstance of the commands inside.
    pub(crate) fn tell(&self, effect: &Effect) -> bool {
        matches!(effect.act, Act::Elevate | Act::RemoteRun)
            && effect.invocation.and_then(|place| self.has_inner.get(place)).copied().unwrap_or_default()
    }
}

/// Returns the user that a wrapper names, quoted; root if it names none.
fn user_of(wrapper: &Invocation) -> String {
    let mut words = wrapper.operands().iter().map(|word| word.text.as_str());
    let named = words.find_map(|word| match word {
        "-u" | "--user" => Some(None),
        word => word.strip_prefix("--user=").map(Some),
    });
    match named.and_then(|attached| attached.or_else(|| words.next())) {
        None | Some("root" | "0" | "#0") => "root".to_owned(),
        Some(user) => quote(user, LONGEST_NAME),
    }
}
