//! Deploying, or changing what runs in production.
//!
//! Users see the result at once, and rolling back is work for somebody who knows the service.
//! Deploy to a preview or a test environment, or leave it to the pipeline.
//! A person is asked about a deployment that does not name production; one that does is refused.
//! Or say that it is to be deployed, and where.

use crate::act::Act;
use crate::case::Case;
use crate::findings::{ExampleCall, Finding, Firmness, Severity, Sighting};

pub(super) static FINDING: Finding = Finding {
    code: "PC016",
    name: "production-deploy",
    title: "changes production",
    category: "prod_deploy",
    severity: Severity::High,
    firmness: Firmness::Soft {
        verbs: &["deploy", "release", "ship", "roll out", "promote", "apply"],
        must_name: "production, or the service that is to be deployed",
    },
    instead: "Build and test it on this machine, and leave the deployment to the user or the pipeline",
    hits: &[
        ExampleCall::Bash("vercel --prod"),
        ExampleCall::Bash("fly deploy"),
        ExampleCall::Bash("netlify deploy --prod"),
        ExampleCall::Bash("firebase deploy"),
        ExampleCall::Bash("kubectl --context prod apply -f deploy.yaml"),
        ExampleCall::Bash("terraform apply -var-file=prod.tfvars"),
        ExampleCall::Bash("helm upgrade web ./chart -n production"),
        ExampleCall::Bash("kubectl apply -n prod -f deploy.yaml"),
        ExampleCall::Bash("serverless deploy --stage prod"),
        ExampleCall::Bash("ansible-playbook -i inventories/production site.yml"),
        ExampleCall::Bash("wrangler deploy"),
    ],
    misses: &[
        ExampleCall::Bash("vercel build"),
        ExampleCall::Bash("kubectl --context prod get pods"),
        ExampleCall::Bash("terraform plan -var-file=prod.tfvars"),
        ExampleCall::Bash("helm template web ./chart -f prod.yaml"),
        ExampleCall::Bash("kubectl apply -n dev -f deploy.yaml"),
        ExampleCall::Bash("NODE_ENV=production npm run build"),
        ExampleCall::Bash("npm ci --production"),
        ExampleCall::Bash("kubectl apply -n non-prod -f deploy.yaml"),
        ExampleCall::Bash("echo fly deploy"),
        ExampleCall::Bash("git commit -m \"deploy to production\""),
    ],
    filter,
};

fn filter(case: Case<'_>) -> Vec<Sighting> {
    const NAMED: &[Act] = &[
        Act::Deploy,
        Act::InfraApply,
        Act::InfraBlind,
        Act::ClusterWrite,
        Act::DatabaseWrite,
        Act::RemoteRun,
    ];
    case.of(NAMED)
        .filter(|effect| match effect.act {
            Act::Deploy => true,
            Act::RemoteRun => runs_plays(case.program(effect)) && case.names_production(effect),
            _ => case.names_production(effect),
        })
        .map(|effect| {
            let sentence = match effect.act {
                Act::Deploy => "it deploys",
                _ => "it changes what runs in production",
            };
            let is_ordinary = effect.act == Act::Deploy && !case.names_production(effect);
            Sighting::of(case, effect, sentence).ordinary_if(is_ordinary)
        })
        .collect()
}

/// Says whether a program carries out what is written down elsewhere on many machines.
fn runs_plays(program: &str) -> bool {
    matches!(program, "ansible" | "ansible-playbook" | "knife" | "salt")
}
