//! Deleting objects of a cluster, or changing its nodes and rules.
//!
//! A namespace takes everything in it along, a node the work that runs on it, and others use the same cluster.
//! Look with `kubectl get` and `--dry-run`, and let the person delete.
//! Or name the object and say that it is to be deleted.

use crate::act::Act;
use crate::case::Case;
use crate::effect::Effect;
use crate::findings::{ExampleCall, Finding, Firmness, Severity, Sighting};
use crate::invocation::Invocation;

pub(super) static FINDING: Finding = Finding {
    code: "PC020",
    name: "cluster-destruction",
    title: "deletes objects of a cluster or changes it as a whole",
    category: "modify_shared",
    severity: Severity::High,
    firmness: Firmness::Soft {
        verbs: &["delete", "uninstall", "drain", "cordon", "scale down", "remove", "evict"],
        must_name: "the object, and the cluster or namespace",
    },
    instead: "Look with `kubectl get pods` or a dry run, and leave the deletion to the user",
    hits: &[
        ExampleCall::Bash("kubectl delete namespace staging"),
        ExampleCall::Bash("kubectl delete -f deploy.yaml"),
        ExampleCall::Bash("kubectl drain node-1 --ignore-daemonsets"),
        ExampleCall::Bash("helm uninstall web"),
        ExampleCall::Bash("kubectl delete pods --all -n web"),
        ExampleCall::Bash("oc delete project app"),
        ExampleCall::Bash("kubectl cordon node-1"),
        ExampleCall::Bash("kubectl --context prod delete deployment web"),
        ExampleCall::Bash("flux uninstall"),
        ExampleCall::Bash("argocd app delete web"),
    ],
    misses: &[
        ExampleCall::Bash("kubectl get pods"),
        ExampleCall::Bash("kubectl describe node node-1"),
        ExampleCall::Bash("helm list -A"),
        ExampleCall::Bash("kubectl delete pod web --dry-run=client"),
        ExampleCall::Bash("echo kubectl delete namespace staging"),
        ExampleCall::Bash("kubectl --context kind-dev delete namespace staging"),
        ExampleCall::Bash("kubectl logs web-0"),
        ExampleCall::Bash("git commit -m \"kubectl drain\""),
        ExampleCall::Bash("helm template web ./chart"),
        ExampleCall::Bash("kubectl --context minikube delete -f deploy.yaml"),
    ],
    filter,
};

fn filter(case: Case<'_>) -> Vec<Sighting> {
    case.of(&[Act::ClusterDelete, Act::ClusterAdmin])
        .filter(|effect| !is_on_this_machine(case, effect))
        .map(|effect| {
            let deed = if effect.act == Act::ClusterDelete {
                "deletes objects of a cluster"
            } else {
                "changes a whole cluster"
            };
            let sentence = match effect.target.written() {
                "" => format!("it {deed}"),
                written => format!("it {deed}: `{written}`"),
            };
            Sighting::of(case, effect, sentence)
        })
        .collect()
}

/// Says whether a command names a cluster that runs on this machine, for tests.
fn is_on_this_machine(case: Case<'_>, effect: &Effect) -> bool {
    const LOCAL: &[&str] = &["docker-desktop", "minikube", "orbstack", "rancher-desktop"];
    let words = case.command(effect).map(Invocation::operands).unwrap_or_default();
    let mut context = None;
    let mut words = words.iter();
    while let Some(word) = words.next() {
        if matches!(word.text.as_str(), "--context" | "--kube-context") {
            context = words.next().map(|word| word.text.as_str());
        } else if let Some((option, value)) = word.text.split_once('=')
            && matches!(option, "--context" | "--kube-context")
        {
            context = Some(value);
        }
    }
    context.is_some_and(|name| LOCAL.contains(&name) || name.starts_with("kind-") || name.starts_with("k3d-"))
}
