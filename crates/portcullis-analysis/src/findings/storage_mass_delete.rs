//! Deleting objects of a store in the cloud.
//!
//! Buckets hold data of users, backups and builds of others, and most keep no versions.
//! List the objects first and let the person delete them.
//! A person is asked where files take the place of what goes, as when a site is brought up to date; else it is refused.
//! Or name the bucket and say that its objects are to be deleted.

use crate::act::Act;
use crate::case::Case;
use crate::effect::Effect;
use crate::findings::{ExampleCall, Finding, Firmness, Severity, Sighting};
use crate::reach::names_local_service;

pub(super) static FINDING: Finding = Finding {
    code: "PC013",
    name: "storage-mass-delete",
    title: "deletes objects of a shared store",
    category: "cloud_mass_delete",
    severity: Severity::High,
    firmness: Firmness::Soft {
        verbs: &["delete", "remove", "empty", "purge", "rm"],
        must_name: "the bucket or the objects",
    },
    instead: "List what would go, and leave the deletion to the user",
    hits: &[
        ExampleCall::Bash("aws s3 rm s3://app-data --recursive"),
        ExampleCall::Bash("aws s3 rb s3://app-data --force"),
        ExampleCall::Bash("gsutil -m rm -r gs://app-data/"),
        ExampleCall::Bash("gcloud storage rm -r gs://app-data"),
        ExampleCall::Bash("az storage blob delete-batch -s data --account-name app"),
        ExampleCall::Bash("aws s3 sync dist s3://app-site --delete"),
        ExampleCall::Bash("aws s3api delete-objects --bucket app --delete file://x.json"),
        ExampleCall::Bash("aws s3api delete-bucket --bucket app-data"),
    ],
    misses: &[
        ExampleCall::Bash("aws s3 ls s3://app-data"),
        ExampleCall::Bash("aws s3 cp a.txt s3://app-data/"),
        ExampleCall::Bash("aws s3 rm s3://app-data --recursive --dryrun"),
        ExampleCall::Bash("echo aws s3 rm s3://app-data --recursive"),
        ExampleCall::Bash("gsutil ls gs://app-data"),
        ExampleCall::Bash("aws --endpoint-url http://localhost:4566 s3 rm s3://test --recursive"),
        ExampleCall::Bash("az storage blob list -c data"),
        ExampleCall::Bash("aws s3 sync s3://app-data data"),
        ExampleCall::Bash("grep -rn \"s3 rm\" scripts"),
    ],
    filter,
};

fn filter(case: Case<'_>) -> Vec<Sighting> {
    case.of(&[Act::StorageDelete])
        .filter(|effect| !names_local_service(case, effect))
        .map(|effect| {
            let sentence = match effect.target.written() {
                "" => "it deletes stored objects".to_owned(),
                written => format!("it deletes stored objects: `{written}`"),
            };
            let replaces = |send: &Effect| send.invocation == effect.invocation;
            let is_update = case.of(&[Act::Send, Act::CloudWrite, Act::Deploy]).any(replaces);
            Sighting::of(case, effect, sentence).ordinary_if(is_update && !case.names_production(effect))
        })
        .collect()
}
