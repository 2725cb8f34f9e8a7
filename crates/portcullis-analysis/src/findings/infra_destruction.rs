//! Tearing down infrastructure.
//!
//! Everything the configuration describes is deleted, data included.
//! Show what would go with a plan, and let the person destroy it.
//! Or name the stack or environment and say that it is to be destroyed.

use crate::act::Act;
use crate::case::Case;
use crate::findings::{Finding, Firmness, Sample, Severity, Sighting};

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
    hits: &[
        Sample::Bash("terraform destroy"),
        Sample::Bash("tofu destroy -auto-approve"),
        Sample::Bash("terragrunt run-all destroy"),
        Sample::Bash("pulumi destroy --yes"),
        Sample::Bash("cdk destroy"),
        Sample::Bash("terraform apply -destroy"),
        Sample::Bash("terraform -chdir=envs/dev destroy -target aws_instance.web"),
        Sample::Bash("cdktf destroy"),
        Sample::Bash("terragrunt destroy --terragrunt-non-interactive"),
    ],
    misses: &[
        Sample::Bash("terraform plan -destroy"),
        Sample::Bash("terraform plan"),
        Sample::Bash("pulumi preview"),
        Sample::Bash("cdk list"),
        Sample::Bash("echo terraform destroy"),
        Sample::Bash("git commit -m \"terraform destroy\""),
        Sample::Bash("grep -rn destroy infra"),
        Sample::Bash("terraform state list"),
        Sample::Bash("pulumi stack ls"),
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
