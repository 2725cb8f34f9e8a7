//! What a container gets of the machine: mounts, namespaces, networks, secrets, and whose image it is made of.

use super::CommandContext;
use super::{certain, nameless};
use crate::act::Act;
use crate::argument::Argument;
use crate::container_image::is_well_known;
use crate::environment::is_secret_name;
use crate::lists::readers::container::POWERFUL;
use crate::profile::{Match, Use};

/// Options that join a namespace of the machine or of another container.
const NAMESPACES: &[&str] = &["--pid", "--ipc", "--uts", "--userns", "--cgroupns"];

/// Adds what mounts and namespaces mean.
pub(super) fn read(context: &CommandContext<'_>, found: &Match<'_>) -> Vec<Use> {
    let mut uses = found.uses.clone();
    if found.is_idle {
        return uses;
    }
    uses.extend(foreign_image(found).map(|image| certain(Act::Unknown, image)));
    for (option, value) in &found.wanted.options {
        let Some(value) = value else { continue };
        if hands_on(context, option, value) {
            uses.push(certain(Act::Unknown, value));
        }
        if matches!(*option, "--cache-to") {
            uses.extend(output_of(value).map(|place| certain(Act::Write, &place)));
        }
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

/// Returns the image that a container is started from, if it is neither of this machine nor of somebody everybody knows.
fn foreign_image<'a>(found: &'a Match<'_>) -> Option<&'a Argument> {
    let starts = matches!(found.path.as_slice(), ["run" | "create"] | ["container", "run" | "create"]);
    let image = found.wanted.operands.first().filter(|_| starts)?;
    (!image.fixed().is_some_and(is_well_known)).then_some(image)
}

/// Adds the images that are fetched and that are neither of this machine nor of somebody everybody knows.
pub(super) fn images(_: &CommandContext<'_>, found: &Match<'_>) -> Vec<Use> {
    let mut uses = found.uses.clone();
    if !found.is_idle {
        let operands = found.wanted.operands.iter();
        let foreign = operands.filter(|image| !image.fixed().is_some_and(is_well_known));
        uses.extend(foreign.map(|image| certain(Act::PullImage, image)));
    }
    uses
}

/// Says whether an option hands secrets to a container, makes it start again by itself, or has it send or run something.
fn hands_on(context: &CommandContext<'_>, option: &str, value: &Argument) -> bool {
    let text = value.text.as_str();
    match option {
        // A name without a value takes it from the session.
        "-e" | "--build-arg" => {
            !text.contains('=') && (is_secret_name(text) || !value.is_known())
                || !context.variables.secrets_in(text, context.index).is_empty()
        }
        "--restart" => !(text == "no" || text.starts_with("on-failure")),
        "--cache-from" => text.contains("type=") && !is_own_cache(text),
        "--cache-to" => !is_own_cache(text),
        "--runtime" => text.contains('/'),
        "--log-opt" => text.contains("://"),
        "--ssh" => text.contains('='),
        "--volume-driver" => text != "local",
        // What another container keeps.
        "--volumes-from" => true,
        _ => false,
    }
}

/// Says whether a cache of builds stays on this machine or with the builds of the project.
fn is_own_cache(value: &str) -> bool {
    ["type=local", "type=gha", "type=inline"].iter().any(|own| value.split(',').any(|part| part == *own))
}

/// Adds what a command does to containers whose names nobody knows: all of them, as far as anybody can tell.
pub(super) fn names(context: &CommandContext<'_>, found: &Match<'_>) -> Vec<Use> {
    let mut uses = found.uses.clone();
    let unknown = found.wanted.operands.iter().filter(|name| !name.is_known());
    uses.extend(unknown.map(|name| certain(Act::Unknown, name)));
    let odd = found.wanted.options.iter().filter_map(|(option, value)| Some((*option, value.as_ref()?)));
    uses.extend(
        odd.filter(|(option, value)| hands_on(context, option, value))
            .map(|(_, value)| certain(Act::Unknown, value)),
    );
    uses
}

/// Reads a look at containers: a format that shows how they were made shows the variables they were given.
pub(super) fn inspect(_: &CommandContext<'_>, found: &Match<'_>) -> Vec<Use> {
    let mut uses = found.uses.clone();
    let value = |wanted: &str| {
        let mut options = found.wanted.options.iter().rev();
        options.find(|(option, _)| *option == wanted).and_then(|(_, value)| value.as_ref())
    };
    let is_other = value("--type").is_some_and(|kind| kind.text != "container");
    if !is_other && value("-f").is_none_or(|format| !format.is_known() || shows_making(&format.text)) {
        uses.push(nameless(Act::Environment));
    }
    uses
}

/// Says whether a template shows all of a container, all of its configuration, or its variables.
fn shows_making(format: &str) -> bool {
    let is_word = |letter: char| letter.is_ascii_alphanumeric() || letter == '_' || letter == '.';
    let mut fields = format.split(|letter| !is_word(letter)).filter(|word| word.starts_with('.'));
    format == "json"
        || format.contains("\"Env")
        || fields.any(|field| {
            let last = field.rsplit('.').next().unwrap_or_default();
            matches!(last, "" | "Config" | "Spec" | "TaskTemplate" | "ContainerSpec")
                || field.split('.').any(|part| part == "Env")
        })
}

/// Reads a copy to or from a container: what stands behind its name is no file of this machine.
pub(super) fn copy(_: &CommandContext<'_>, found: &Match<'_>) -> Vec<Use> {
    let is_inside = |word: &Argument| {
        word.text.split_once(':').is_some_and(|(name, _)| !name.is_empty() && !name.contains(['/', '.', '~']))
    };
    let uses = found.uses.iter().filter(|found| !found.word.as_ref().is_some_and(is_inside));
    uses.cloned().collect()
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

#[cfg(test)]
mod tests {
    use crate::reader::testing::effects;

    fn is_plain(command: &str) -> bool {
        effects(command).iter().all(|effect| !effect.starts_with("unknown"))
    }

    #[test]
    fn an_image_of_somebody_else_is_told_where_it_is_fetched() {
        for plain in
            ["docker pull redis:7", "podman pull docker.io/library/redis", "docker image pull grafana/loki"]
        {
            assert_eq!(effects(plain), ["container-local"], "{plain}");
        }
        assert_eq!(effects("docker pull acme/tool:1"), ["container-local", "pull-image acme/tool:1"]);
        assert_eq!(
            effects("docker pull docker.io/acme/tool"),
            ["container-local", "pull-image docker.io/acme/tool"]
        );
        assert_eq!(
            effects("nerdctl image pull \"$IMAGE\""),
            ["container-local", "pull-image $IMAGE", "unknown $IMAGE"]
        );
    }

    #[test]
    fn images_secrets_and_restarts_are_told() {
        for plain in [
            "docker run --rm -e DEBUG=1 -e POSTGRES_PASSWORD=x postgres:16 psql --version",
            "docker run -v ./data:/data mcr.microsoft.com/dotnet/sdk:8.0",
            "docker build --build-arg VERSION=1 --cache-to type=gha .",
            "docker stop app",
            "docker run --restart on-failure:3 redis",
        ] {
            assert!(is_plain(plain), "{plain} {:?}", effects(plain));
        }
        for odd in [
            "docker run acme/tool",
            "podman create registry.example/x",
            "docker container run \"$IMAGE\"",
            "docker run -e GITHUB_TOKEN redis",
            "docker exec -e X=$DB_PASSWORD app ls",
            "docker build --build-arg NPM_TOKEN .",
            "docker build --cache-to type=registry,ref=registry.example/x .",
            "docker run --restart=always redis",
            "docker stop $(docker ps -q)",
            "docker update --restart always app",
        ] {
            assert!(!is_plain(odd), "{odd} {:?}", effects(odd));
        }
        assert_eq!(effects("docker cp app:/x ./y"), ["container-local", "write ./y"]);
    }
}
