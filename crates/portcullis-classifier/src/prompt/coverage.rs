//! Which built-in rule each finding of the static analysis falls under. A finding without one fails a test.

/// Codes of findings with the label of their rule, in the order of the codes.
const RULES: &[(&str, &str)] = &[
    ("PC001", "Local Destruction"),
    ("PC002", "Unclear Deletion"),
    ("PC003", "Scratch Sweep"),
    ("PC004", "Local Destruction"),
    ("PC005", "Discarded Work"),
    ("PC006", "Erased History"),
    ("PC007", "Remote History"),
    ("PC008", "Remote History"),
    ("PC009", "Default Branch Push"),
    ("PC010", "Remote Repoint"),
    ("PC011", "Foreign Code"),
    ("PC012", "Code Injection"),
    ("PC013", "Data Store Destruction"),
    ("PC014", "Infrastructure Teardown"),
    ("PC015", "Data Store Destruction"),
    ("PC016", "Production Deploy"),
    ("PC017", "Blind Apply"),
    ("PC018", "Infrastructure Teardown"),
    ("PC019", "Remote Shell Writes"),
    ("PC020", "Cluster Changes"),
    ("PC021", "Audit Tampering"),
    ("PC022", "Rights and Accounts"),
    ("PC023", "Privilege Escalation"),
    ("PC024", "Trust Weakening"),
    ("PC025", "Protection Off"),
    ("PC026", "Secret Store Writes"),
    ("PC027", "DNS and Certificates"),
    ("PC028", "Unchecked Agents"),
    ("PC029", "Workload Interference"),
    ("PC030", "System Changes"),
    ("PC031", "Remote Control"),
    ("PC032", "Exposed Services"),
    ("PC033", "Credential Leakage"),
    ("PC034", "Credential Display"),
    ("PC035", "Credential Hunting"),
    ("PC036", "Data Exfiltration"),
    ("PC037", "Persistence"),
    ("PC038", "Self Authorization"),
    ("PC039", "Instruction Poisoning"),
    ("PC040", "External Writes"),
    ("PC041", "Public Surface"),
    ("PC042", "Impersonation"),
    ("PC043", "Real World Transactions"),
    ("PC044", "Check Bypass"),
    ("PC045", "Hidden Code"),
    ("PC046", "Code Injection"),
    ("PC047", "Third Party Attack"),
    ("PC048", "Surveillance"),
    ("PC049", "Malware"),
    ("PC050", "Privilege Escalation"),
    ("PC052", "Terminal Driving"),
    ("PC053", "Privilege Escalation"),
    ("PC054", "Containment Escape"),
    ("PC056", "Resource Removal"),
    ("PC057", "Local Destruction"),
    ("PC058", "Credential Hunting"),
    ("PC059", "External Writes"),
    ("PC060", "Resource Removal"),
    ("PC061", "Privilege Escalation"),
    ("PC062", "Foreign Code"),
    ("PC063", "Self Authorization"),
];

/// Returns the label of the built-in rule that a finding falls under, by the finding's code.
pub fn rule_of_finding(code: &str) -> Option<&'static str> {
    RULES.iter().find(|(known, _)| *known == code).map(|(_, label)| *label)
}

#[cfg(test)]
mod tests {
    use portcullis_core::findings::{FINDINGS, Firmness};
    use pretty_assertions::assert_eq;

    use super::super::section::{PromptList, label_of};
    use super::*;

    #[test]
    fn every_finding_falls_under_a_built_in_rule_that_is_as_firm_as_it_is() {
        let labels =
            |section: PromptList| section.built_in().iter().map(|entry| label_of(entry)).collect::<Vec<_>>();
        let (hard, soft) = (labels(PromptList::HardDeny), labels(PromptList::SoftDeny));
        for finding in FINDINGS {
            let label = rule_of_finding(finding.code).map(str::to_owned);
            let label = label.unwrap_or_else(|| panic!("{} {} has no rule", finding.code, finding.name));
            let rules = match finding.firmness {
                Firmness::Hard => &hard,
                Firmness::Soft { .. } => &soft,
            };
            assert!(rules.contains(&label), "{} {}: no such rule: {label}", finding.code, finding.name);
        }
    }

    #[test]
    fn the_table_names_every_finding_once_and_nothing_else() {
        let codes: Vec<&str> = RULES.iter().map(|(code, _)| *code).collect();
        let known: Vec<&str> = FINDINGS.iter().map(|finding| finding.code).collect();
        assert_eq!(codes, known);
        assert_eq!(rule_of_finding("PC000"), None);
    }
}
