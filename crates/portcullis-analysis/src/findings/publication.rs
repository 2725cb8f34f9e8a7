//! Publishing a package, an image or a release.
//!
//! What is published is copied at once, and a version number is never used again.
//! Build and check it, and leave the publication to a person or the pipeline.
//! Or name the package and version and say that it is to be published.

use crate::act::Act;
use crate::case::Case;
use crate::effect::target::host_in;
use crate::findings::{Finding, Firmness, Sample, Severity, Sighting};
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
    hits: &[
        Sample::Bash("npm publish"),
        Sample::Bash("cargo publish"),
        Sample::Bash("twine upload dist/*"),
        Sample::Bash("gh release create v1.0 app.tar.gz"),
        Sample::Bash("docker push registry.example.com/app:1"),
        Sample::Bash("gem push app-1.0.gem"),
        Sample::Bash("uv publish"),
        Sample::Bash("poetry publish --build"),
        Sample::Bash("pnpm publish --access public"),
    ],
    misses: &[
        Sample::Bash("npm publish --dry-run"),
        Sample::Bash("npm pack"),
        Sample::Bash("cargo publish --dry-run"),
        Sample::Bash("docker build -t app ."),
        Sample::Bash("docker push localhost:5000/app:1"),
        Sample::Bash("echo npm publish"),
        Sample::Bash("gh release list"),
        Sample::Bash("twine check dist/*"),
        Sample::Bash("git commit -m \"npm publish\""),
        Sample::Bash("cargo package"),
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
            Sighting::of(case, effect, sentence)
        })
        .collect()
}
