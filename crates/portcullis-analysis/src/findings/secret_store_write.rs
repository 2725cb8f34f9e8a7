//! Changing an entry of a secret store.
//!
//! Programs that run elsewhere take their passwords and keys from there, and the value that was there before is often kept nowhere.
//! Let the person set it, or use a file of the project that is not committed.
//! Or name the secret and say that it is to be changed.

use crate::act::Act;
use crate::case::Case;
use crate::findings::{ExampleCall, Finding, Firmness, Severity, Sighting};

pub(super) static FINDING: Finding = Finding {
    code: "PC026",
    name: "secret-store-write",
    title: "changes an entry of a secret store",
    category: "modify_shared",
    severity: Severity::High,
    firmness: Firmness::Soft {
        verbs: &["set", "rotate", "store", "update", "delete", "add", "create"],
        must_name: "the secret",
    },
    instead: "Tell the user which secret is needed, and let them set it",
    hits: &[
        ExampleCall::Bash("gh secret set TOKEN -b x"),
        ExampleCall::Bash("aws secretsmanager put-secret-value --secret-id db --secret-string x"),
        ExampleCall::Bash("fly secrets set KEY=x"),
        ExampleCall::Bash("wrangler secret put TOKEN"),
        ExampleCall::Bash("gh secret delete TOKEN"),
        ExampleCall::Bash("kubectl create secret generic db --from-literal=password=x"),
        ExampleCall::Bash("az keyvault secret set --vault-name app --name db --value x"),
        ExampleCall::Bash("vercel env add TOKEN production"),
    ],
    misses: &[
        ExampleCall::Bash("gh secret list"),
        ExampleCall::Bash("aws secretsmanager list-secrets"),
        ExampleCall::Bash("fly secrets list"),
        ExampleCall::Bash("echo gh secret set TOKEN"),
        ExampleCall::Bash("kubectl get pods"),
        ExampleCall::Bash("git commit -m \"gh secret set\""),
        ExampleCall::Bash("grep -rn \"secret set\" scripts"),
        ExampleCall::Bash("az keyvault list"),
        ExampleCall::Bash("wrangler secret list"),
    ],
    filter,
};

fn filter(case: Case<'_>) -> Vec<Sighting> {
    case.of(&[Act::SecretWrite])
        .map(|effect| {
            let sentence = match effect.target.written() {
                "" => "it changes an entry of a secret store".to_owned(),
                written => format!("it changes the secret `{written}`"),
            };
            Sighting::of(case, effect, sentence)
        })
        .collect()
}
