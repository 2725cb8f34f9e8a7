//! Applying infrastructure changes that nobody looked at first.
//!
//! The plan is where somebody sees that a database is about to be replaced.
//! Make a plan, show it, and apply that plan.
//! Or say that it is to be applied without review.

use crate::act::Act;
use crate::case::Case;
use crate::findings::{ExampleCall, Finding, Firmness, Severity, Sighting};

pub(super) static FINDING: Finding = Finding {
    code: "PC017",
    name: "blind-apply",
    title: "applies infrastructure changes nobody looked at",
    category: "blind_apply",
    severity: Severity::High,
    firmness: Firmness::Soft {
        verbs: &["auto-approve", "without review", "apply", "skip the confirmation"],
        must_name: "that it is applied without looking at the plan",
    },
    instead: "Save a plan with `terraform plan -out=plan.bin`, and show it to the user",
    hits: &[
        ExampleCall::Bash("terraform apply -auto-approve"),
        ExampleCall::Bash("tofu apply --auto-approve"),
        ExampleCall::Bash("terragrunt apply -auto-approve"),
        ExampleCall::Bash("pulumi up --yes"),
        ExampleCall::Bash("cdk deploy --require-approval=never"),
        ExampleCall::Bash("terraform -chdir=envs/dev apply -auto-approve"),
        ExampleCall::Bash("pulumi up -y --stack dev"),
        ExampleCall::Bash("cd infra && terraform apply -input=false -auto-approve"),
    ],
    misses: &[
        ExampleCall::Bash("terraform plan"),
        ExampleCall::Bash("terraform apply plan.bin"),
        ExampleCall::Bash("terraform apply"),
        ExampleCall::Bash("pulumi preview"),
        ExampleCall::Bash("cdk diff"),
        ExampleCall::Bash("echo terraform apply -auto-approve"),
        ExampleCall::Bash("grep -rn auto-approve infra"),
        ExampleCall::Bash("git commit -m \"terraform apply -auto-approve\""),
        ExampleCall::Bash("terraform validate"),
    ],
    filter,
};

fn filter(case: Case<'_>) -> Vec<Sighting> {
    case.of(&[Act::InfraBlind])
        .map(|effect| {
            let sentence = match effect.target.written() {
                "" => "it applies infrastructure changes that nobody looked at".to_owned(),
                written => format!("it applies infrastructure changes that nobody looked at: `{written}`"),
            };
            Sighting::of(case, effect, sentence)
        })
        .collect()
}
