//! Tearing down infrastructure.
//!
//! Everything the configuration describes is deleted, data included.
//! Show what would go with a plan, and let the person destroy it.
//! Or name the stack or environment and say that it is to be destroyed.

use crate::act::Act;
use crate::case::Case;
use crate::findings::{ExampleCall, Finding, Firmness, Severity, Sighting};

pub(super) static FINDING: Finding = Finding {
    code: "PC018",
    name: "infra-destruction",
    title: "tears down infrastructure",
    category: "modify_shared",
    severity: Severity::Critical,
    firmness: Firmness::Soft {
        verbs: &["destroy", "tear down", "remove", "delete"],
        must_name: "what is to be torn down",
    },
    instead: "Show what would go with `terraform plan -destroy`, and leave the rest to the user",
    hits: &[
        ExampleCall::Bash("terraform destroy"),
        ExampleCall::Bash("tofu destroy -auto-approve"),
        ExampleCall::Bash("terragrunt run-all destroy"),
        ExampleCall::Bash("pulumi destroy --yes"),
        ExampleCall::Bash("cdk destroy"),
        ExampleCall::Bash("terraform apply -destroy"),
        ExampleCall::Bash("terraform -chdir=envs/dev destroy -target aws_instance.web"),
        ExampleCall::Bash("cdktf destroy"),
        ExampleCall::Bash("terragrunt destroy --terragrunt-non-interactive"),
    ],
    misses: &[
        ExampleCall::Bash("terraform plan -destroy"),
        ExampleCall::Bash("terraform plan"),
        ExampleCall::Bash("pulumi preview"),
        ExampleCall::Bash("cdk list"),
        ExampleCall::Bash("echo terraform destroy"),
        ExampleCall::Bash("git commit -m \"terraform destroy\""),
        ExampleCall::Bash("grep -rn destroy infra"),
        ExampleCall::Bash("terraform state list"),
        ExampleCall::Bash("pulumi stack ls"),
    ],
    filter,
};

fn filter(case: Case<'_>) -> Vec<Sighting> {
    case.of(&[Act::InfraDestroy])
        .map(|effect| {
            let sentence = match effect.target.written() {
                "" => "it tears down infrastructure".to_owned(),
                written => format!("it tears down infrastructure: `{written}`"),
            };
            Sighting::of(case, effect, sentence)
        })
        .collect()
}
