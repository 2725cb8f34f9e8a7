//! Publishing a package, an image or a release.
//!
//! What is published is copied at once, and a version number is never used again.
//! Build and check it, and leave the publication to a person or the pipeline.
//! Or name the package and version and say that it is to be published.

use crate::act::Act;
use crate::case::Case;
use crate::effect::target::host_in;
use crate::findings::{ExampleCall, Finding, Firmness, Severity, Sighting};
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
            Sighting::of(case, effect, sentence)
        })
        .collect()
}
