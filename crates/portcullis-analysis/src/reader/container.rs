//! What a container gets of the machine: mounts, namespaces, networks.

use super::CommandContext;
use super::{certain, is_idle};
use crate::act::Act;
use crate::argument::Argument;
use crate::lists::readers::container::POWERFUL;
use crate::profile::{Match, Use};

/// Options that join a namespace of the machine or of another container.
const NAMESPACES: &[&str] = &["--pid", "--ipc", "--uts", "--userns", "--cgroupns"];

/// Adds what mounts and namespaces mean.
pub(super) fn read(context: &CommandContext<'_>, found: &Match<'_>) -> Vec<Use> {
    let mut uses = found.uses.clone();
    if is_idle(context, found) {
        return uses;
    }
    for (option, value) in &found.wanted.options {
        let Some(value) = value else { continue };
        let is_powerful = match *option {
            "-v" => is_powerful_mount(value.text.split(':').next().unwrap_or_default(), context.home),
            "--mount" => mounted(&value.text).is_some_and(|source| is_powerful_mount(source, context.home)),
            option if NAMESPACES.contains(&option) => value.text.starts_with("host"),
            "--network" => value.text == "host",
            _ => false,
        };
        if is_powerful {
            uses.push(certain(Act::ContainerPower, value));
        }
        match (*option, value.text.split_once('=')) {
            ("--build-context", Some((_, place))) => uses.push(certain(Act::Read, &value.piece(place))),
            ("-o", _) => {
                uses.extend(output_of(value).map(|place| certain(Act::Write, &place)));
                let is_pushed = value.text.contains("type=registry") || value.text.contains("push=true");
                uses.extend(is_pushed.then(|| certain(Act::Publish, value)));
            }
            _ => {}
        }
        if *option == "--secret"
            && let Some(file) = secret_file(value)
        {
            uses.push(certain(Act::Read, &file));
        }
    }
    uses
}

fn mounted(value: &str) -> Option<&str> {
    let parts = value.split(',').filter_map(|part| part.split_once('='));
    parts.filter(|(key, _)| matches!(*key, "source" | "src")).map(|(_, source)| source).next()
}

/// Returns the directory that an output option names: `type=local,dest=out`.
fn output_of(value: &Argument) -> Option<Argument> {
    let parts = value.text.split(',').filter_map(|part| part.split_once('='));
    parts.filter(|(key, _)| *key == "dest").map(|(_, place)| value.piece(place)).next()
}

/// Returns the file that a build secret is taken from.
fn secret_file(value: &Argument) -> Option<Argument> {
    mounted(&value.text).map(|source| value.piece(source))
}

fn is_powerful_mount(source: &str, home: Option<&str>) -> bool {
    let plain = if source.len() > 1 { source.trim_end_matches('/') } else { source };
    let is_home = matches!(plain, "~" | "$HOME" | "${HOME}") || home == Some(plain);
    is_home
        || POWERFUL.contains(&plain)
        || plain.ends_with("docker.sock")
        || plain.ends_with("containerd.sock")
        || ["/.ssh", "/.aws", "/.kube", "/.docker", "/.gnupg"].iter().any(|end| plain.ends_with(end))
}
