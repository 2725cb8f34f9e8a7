//! Publishing a package, an image or a release.
//!
//! What is published is copied at once, and a version number is never used again.
//! Build and check it, and leave the publication to a person or the pipeline.
//! A person is asked about what the project makes and where its kind is published; other addresses and single files are refused.
//! Or name the package and version and say that it is to be published.

use crate::act::Act;
use crate::case::Case;
use crate::effect::Effect;
use crate::effect::target::host_in;
use crate::findings::{ExampleCall, Finding, Firmness, Severity, Sighting};
use crate::invocation::Invocation;
use crate::lists::hosts::REGISTRIES;
use crate::place::is_loopback;

pub(super) static FINDING: Finding = Finding {
    code: "PC041",
    name: "publication",
    title: "publishes to everybody",
    category: "external_api_write",
    severity: Severity::High,
    firmness: Firmness::Soft {
        verbs: &["publish", "release", "upload", "push"],
        must_name: "what is to be published",
    },
    instead: "Pack it on this machine, as in `npm pack`, and leave the publication to the user",
    hits: &[
        ExampleCall::Bash("npm publish"),
        ExampleCall::Bash("cargo publish"),
        ExampleCall::Bash("twine upload dist/*"),
        ExampleCall::Bash("gh release create v1.0 app.tar.gz"),
        ExampleCall::Bash("docker push registry.example.com/app:1"),
        ExampleCall::Bash("gem push app-1.0.gem"),
        ExampleCall::Bash("uv publish"),
        ExampleCall::Bash("poetry publish --build"),
        ExampleCall::Bash("pnpm publish --access public"),
    ],
    misses: &[
        ExampleCall::Bash("npm publish --dry-run"),
        ExampleCall::Bash("npm pack"),
        ExampleCall::Bash("cargo publish --dry-run"),
        ExampleCall::Bash("docker build -t app ."),
        ExampleCall::Bash("docker push localhost:5000/app:1"),
        ExampleCall::Bash("echo npm publish"),
        ExampleCall::Bash("gh release list"),
        ExampleCall::Bash("twine check dist/*"),
        ExampleCall::Bash("git commit -m \"npm publish\""),
        ExampleCall::Bash("cargo package"),
    ],
    filter,
};

fn filter(case: Case<'_>) -> Vec<Sighting> {
    case.of(&[Act::Publish])
        .filter(|effect| !host_in(effect.target.written()).is_some_and(|host| is_loopback(&host)))
        .map(|effect| {
            let sentence = match effect.target.written() {
                "" => "it publishes to everybody".to_owned(),
                written => format!("it publishes `{written}` to everybody"),
            };
            Sighting::of(case, effect, sentence).ordinary_if(is_ordinary(case, effect))
        })
        .collect()
}

/// Says whether a command publishes what the project makes, where its kind is published.
///
/// Single files that everybody may read then, such as gists and recordings, and addresses that the line itself names are more.
fn is_ordinary(case: Case<'_>, effect: &Effect) -> bool {
    let words = case.command(effect).map(Invocation::operands).unwrap_or_default();
    let mut words = words.iter().map(|word| word.text.as_str());
    case.command(effect).is_some_and(|command| command.code.is_none())
        && !SHARERS.contains(&case.program(effect))
        && !case.is_raised(effect)
        && !words.any(|word| matches!(word, "gist" | "link" | "snippet" | "--public") || names_stranger(word))
}

/// Programs that make single files or recordings public.
const SHARERS: &[&str] = &["asciinema", "hub", "rclone", "sops", "vhs"];

/// Says whether a word gives an address that is no usual registry of packages or images.
fn names_stranger(word: &str) -> bool {
    let Some((_, address)) = word.split_once("://") else {
        return false;
    };
    let host = address.split(['/', ':', '?']).next().unwrap_or_default();
    let host = host.rsplit('@').next().unwrap_or(host).to_ascii_lowercase();
    !REGISTRIES.iter().any(|known| host == *known || host.ends_with(&format!(".{known}")))
        && !is_loopback(&host)
}
