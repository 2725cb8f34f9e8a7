//! Applying infrastructure changes that nobody looked at first.
//!
//! The plan is where somebody sees that a database is about to be replaced.
//! Make a plan, show it, and apply that plan.
//! Or say that it is to be applied without review.

use crate::act::Act;
use crate::case::Case;
use crate::findings::{Finding, Firmness, Sample, Severity, Sighting};

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
    hits: &[
        Sample::Bash("terraform apply -auto-approve"),
        Sample::Bash("tofu apply --auto-approve"),
        Sample::Bash("terragrunt apply -auto-approve"),
        Sample::Bash("pulumi up --yes"),
        Sample::Bash("cdk deploy --require-approval=never"),
        Sample::Bash("terraform -chdir=envs/dev apply -auto-approve"),
        Sample::Bash("pulumi up -y --stack dev"),
        Sample::Bash("cd infra && terraform apply -input=false -auto-approve"),
    ],
    misses: &[
        Sample::Bash("terraform plan"),
        Sample::Bash("terraform apply plan.bin"),
        Sample::Bash("terraform apply"),
        Sample::Bash("pulumi preview"),
        Sample::Bash("cdk diff"),
        Sample::Bash("echo terraform apply -auto-approve"),
        Sample::Bash("grep -rn auto-approve infra"),
        Sample::Bash("git commit -m \"terraform apply -auto-approve\""),
        Sample::Bash("terraform validate"),
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
