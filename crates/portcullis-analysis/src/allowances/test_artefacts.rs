//! Test artefacts: fixtures, mock data and keys made for tests.
//!
//! A file below a directory of tests or fixtures of the project may look like a secret; it is a made-up one.

use crate::act::Act;
use crate::allowances::Allowance;
use crate::case::Case;
use crate::effect::Effect;
use crate::findings::ExampleCall;
use crate::path;

pub(super) static ALLOWANCE: Allowance = Allowance {
    code: "PA04",
    name: "test-artefacts",
    title: "fixtures and keys made for tests",
    clears: &["PC033", "PC034"],
    hits: &[
        ExampleCall::Bash("cat tests/fixtures/server.key"),
        ExampleCall::Bash("head testdata/.env"),
        ExampleCall::Bash("cat spec/fixtures/credentials.json"),
        ExampleCall::Bash("openssl x509 -in tests/data/cert.pem -noout -text"),
        ExampleCall::Bash("cat src/__tests__/.env.test"),
        ExampleCall::Bash("wc -c test/keys/id_rsa"),
        ExampleCall::Bash("git add tests/fixtures/server.pem"),
        ExampleCall::Call("Read", &[("file_path", "/code/app/tests/fixtures/id_rsa")]),
    ],
    misses: &[
        ExampleCall::Bash("cat .env"),
        ExampleCall::Bash("cat config/master.key"),
        ExampleCall::Bash("cat ~/tests/id_rsa"),
        ExampleCall::Bash("cat /etc/tests/shadow.key"),
        ExampleCall::Bash("cat certs/server.key"),
        ExampleCall::Bash("cat ~/.ssh/id_rsa"),
        ExampleCall::Bash("cat tests/../.env"),
        ExampleCall::Bash("cat deploy/secrets.yaml"),
    ],
    covers,
};

/// Names of directories that hold what tests need.
const DIRECTORIES: &[&str] = &[
    "test",
    "tests",
    "testdata",
    "test-data",
    "test_data",
    "__tests__",
    "spec",
    "specs",
    "fixture",
    "fixtures",
    "__fixtures__",
    "mock",
    "mocks",
    "__mocks__",
    "e2e",
];

fn covers(case: Case<'_>, effect: &Effect) -> bool {
    let is_artefact = |path: &str| {
        let below = case.scope.roots.iter().find_map(|root| path::relative_to(path, root));
        below.is_some_and(|below| path::components(&below).any(|part| DIRECTORIES.contains(&part)))
    };
    matches!(effect.act, Act::Read | Act::GitLocal) && effect.target.is_path_with(is_artefact)
}
