//! Runs the tidy checks on this repository.
#![cfg(test)]

use std::process::Command;

use portcullis_dev::generated;
use portcullis_dev::process;
use portcullis_dev::repository::{self, TrackedTree};
use portcullis_dev::tidy::{
    TidyProblem, changelog, contract, engine, findings, house, manifest, markdown, portability, reference,
    settings, source,
};

fn check(find_problems: impl Fn(&TrackedTree) -> Vec<TidyProblem>) {
    let tree = TrackedTree::read(&repository::root()).expect("the repository can be read");
    assert!(tree.files().len() > 50, "git lists only {} files", tree.files().len());
    report(&find_problems(&tree));
}

fn report(problems: &[TidyProblem]) {
    let lines: Vec<String> = problems.iter().map(ToString::to_string).collect();
    assert!(lines.is_empty(), "{} problems:\n{}", lines.len(), lines.join("\n"));
}

#[test]
fn crates_depend_only_on_what_the_house_allows() {
    let mut cargo: Command = process::cargo(&repository::root());
    cargo.args(["metadata", "--no-deps", "--offline", "--format-version", "1"]);
    let metadata = process::capture(&mut cargo).expect("cargo metadata runs");
    report(&manifest::find_forbidden_edges(&serde_json::from_str(&metadata).expect("it prints JSON")));
}

#[test]
fn pure_crates_share_one_fence() {
    check(manifest::find_broken_fences);
}

#[test]
fn crates_take_lints_and_licence_from_the_workspace() {
    check(manifest::find_manifest_gaps);
}

#[test]
fn rust_files_begin_with_their_purpose() {
    check(source::find_missing_headers);
}

#[test]
fn files_stay_within_their_size() {
    check(source::find_long_files);
}

#[test]
fn file_names_say_what_is_inside() {
    check(source::find_vague_names);
}

#[test]
fn a_module_lives_in_one_place() {
    check(source::find_double_modules);
}

#[test]
fn expected_lints_say_why() {
    check(source::find_unreasoned_expectations);
}

#[test]
fn no_test_is_switched_off() {
    check(source::find_weakened_tests);
}

#[test]
fn nothing_depends_on_one_machine() {
    check(portability::find_machine_traces);
}

#[test]
fn markdown_links_lead_somewhere() {
    check(markdown::find_broken_links);
}

#[test]
fn markdown_has_one_sentence_a_line() {
    check(markdown::find_crowded_lines);
}

#[test]
fn the_changelog_marks_what_can_change_a_verdict() {
    check(changelog::find_changelog_problems);
}

#[test]
fn every_row_of_the_contract_has_a_named_test() {
    check(reference::find_coverage_gaps);
}

#[test]
fn every_citation_of_the_contract_leads_to_a_row() {
    check(contract::find_lost_citations);
}

#[test]
fn every_known_bypass_has_a_named_test() {
    check(reference::find_untested_bypasses);
}

#[test]
fn the_files_of_every_recipe_exist() {
    check(reference::find_lost_recipe_files);
}

#[test]
fn generated_pages_are_up_to_date() {
    let root = repository::root();
    let pages = generated::static_pages(&root).expect("the pages can be made");
    for (path, text) in &pages {
        let committed = std::fs::read_to_string(root.join(path)).unwrap_or_default();
        assert!(committed == *text, "{path} is out of date: run `cargo dev generate-all`");
    }
    let stale = generated::stale_pages(&root, &pages).expect("the pages can be listed");
    assert!(stale.is_empty(), "no finding has these pages: {stale:?}; run `cargo dev generate-all`");
}

#[test]
fn every_finding_and_allowance_has_its_file_and_is_registered() {
    check(findings::find_unregistered_files);
    check(findings::find_missing_files);
}

#[test]
fn every_finding_and_allowance_has_its_page() {
    check(findings::find_missing_pages);
}

#[test]
fn codes_of_findings_and_allowances_are_unique_and_in_order() {
    report(&findings::find_bad_codes(&findings::registered()));
}

#[test]
fn the_pages_of_findings_say_something() {
    check(findings::find_thin_prose);
}

#[test]
fn every_settings_key_is_documented_and_has_samples() {
    check(settings::find_undocumented_keys);
}

#[test]
fn modules_of_a_crate_form_no_cycle() {
    check(house::find_module_cycles);
}

#[test]
fn only_the_engine_decides() {
    check(engine::find_stray_decisions);
}

#[test]
fn the_name_of_a_type_leads_to_that_type() {
    check(|tree| house::find_shared_names(tree, house::SHARED_NAMES_LIMIT));
}
