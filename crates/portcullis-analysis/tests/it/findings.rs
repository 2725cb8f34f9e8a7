//! Every example of every finding and allowance, and that each of them earns its place.

use std::collections::BTreeSet;

use portcullis_analysis::allowances::ALLOWANCES;
use portcullis_analysis::command_effects::{effects, power_shell_layout};
use portcullis_analysis::effect::{Act, Effect, Weight};
use portcullis_analysis::findings::{ExampleCall, FINDINGS, Finding};
use portcullis_analysis::place::Scope;
use portcullis_analysis::profile::Profiles;
use portcullis_analysis::tool_call::layout;
use portcullis_analysis::{Assessment, Background, Case, Surroundings, Survey, assess, survey};

const SURROUNDINGS: Surroundings<'static> =
    Surroundings { directory: "/code/app", home: Some("/home/me"), profiles: Profiles::BUILT_IN };

fn laid_out(sample: ExampleCall) -> (&'static str, Survey, Vec<Effect>) {
    match sample {
        ExampleCall::Bash(command) => {
            let survey = survey(command, SURROUNDINGS);
            let effects = effects(&survey, SURROUNDINGS);
            ("Bash", survey, effects)
        }
        ExampleCall::PowerShell(command) => {
            let layout = power_shell_layout(command, SURROUNDINGS);
            ("PowerShell", layout.survey, layout.effects)
        }
        ExampleCall::Call(tool, fields) => {
            let fields: Vec<(String, String)> =
                fields.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
            let layout = layout(tool, &fields, SURROUNDINGS);
            (tool, layout.survey, layout.effects)
        }
    }
}

fn with_case<T>(sample: ExampleCall, look: impl Fn(Case<'_>) -> T) -> T {
    let (tool, survey, effects) = laid_out(sample);
    let scope = Scope { roots: vec!["/code/app".to_owned()], home: Some("/home/me".to_owned()) };
    let background = Background::default();
    look(Case { tool, effects: &effects, survey: &survey, scope: &scope, background: &background })
}

fn assessed(sample: ExampleCall) -> Assessment {
    with_case(sample, assess)
}

fn finds(finding: &Finding, sample: ExampleCall) -> bool {
    assessed(sample).findings.iter().any(|found| found.finding.code == finding.code)
}

#[test]
fn every_hit_is_found_and_no_miss_is() {
    let mut wrong = Vec::new();
    for finding in FINDINGS {
        for hit in finding.hits.iter().filter(|hit| !finds(finding, **hit)) {
            let effects = with_case(*hit, |case| {
                format!(
                    "{:?}",
                    case.effects.iter().map(|e| (e.act.name(), e.target.written())).collect::<Vec<_>>()
                )
            });
            wrong.push(format!("{} {} does not find {hit:?}\n    {effects}", finding.code, finding.name));
        }
        for miss in finding.misses.iter().filter(|miss| finds(finding, **miss)) {
            wrong.push(format!("{} {} finds {miss:?}", finding.code, finding.name));
        }
    }
    assert!(wrong.is_empty(), "{} wrong\n{}", wrong.len(), wrong.join("\n"));
}

#[test]
fn every_example_of_an_allowance_is_covered_and_no_miss_is() {
    let mut wrong = Vec::new();
    for allowance in ALLOWANCES {
        for hit in allowance.hits {
            let assessment = assessed(*hit);
            if !assessment.is_harmless() {
                let open: Vec<_> = assessment
                    .open
                    .iter()
                    .map(|effect| (effect.act.name(), effect.target.written()))
                    .collect();
                let found: Vec<_> = assessment.findings.iter().map(|found| found.finding.code).collect();
                wrong.push(format!("{} does not cover {hit:?}: {open:?} {found:?}", allowance.code));
            }
        }
        // Another allowance may cover a miss; this one must leave something of it open.
        let covers_all = |miss: &&ExampleCall| {
            with_case(**miss, |case| case.effects.iter().all(|effect| (allowance.covers)(case, effect)))
        };
        for miss in allowance.misses.iter().filter(covers_all) {
            wrong.push(format!("{} covers {miss:?}", allowance.code));
        }
    }
    assert!(wrong.is_empty(), "{} wrong\n{}", wrong.len(), wrong.join("\n"));
}

#[test]
fn every_finding_and_allowance_has_examples_enough_and_a_code_of_its_own() {
    let mut codes = BTreeSet::new();
    for finding in FINDINGS {
        assert!(codes.insert(finding.code), "{}", finding.code);
        assert!(finding.hits.len() >= 8 && finding.misses.len() >= 8, "{}", finding.code);
        assert!(finding.code.len() == 5 && finding.code.starts_with("PC"), "{}", finding.code);
    }
    for allowance in ALLOWANCES {
        assert!(codes.insert(allowance.code), "{}", allowance.code);
        assert!(allowance.hits.len() >= 8 && allowance.misses.len() >= 8, "{}", allowance.code);
    }
    assert!(FINDINGS.is_sorted_by_key(|finding| finding.code));
}

/// Removing any one filter must not go unnoticed: some example of it is found by nothing else.
#[test]
fn without_its_filter_an_example_of_each_finding_would_pass() {
    for finding in FINDINGS {
        let is_alone = |sample: &&ExampleCall| {
            assessed(**sample).findings.iter().all(|found| found.finding.code == finding.code)
        };
        assert!(finding.hits.iter().any(|hit| is_alone(&hit)), "{} {}", finding.code, finding.name);
    }
}

/// A grave act that no finding is about would only ever be asked about.
#[test]
fn every_grave_act_is_seen_by_a_finding() {
    let mut seen = BTreeSet::new();
    for finding in FINDINGS {
        for hit in finding.hits {
            let acts: Vec<Act> = with_case(*hit, |case| {
                let sightings = (finding.filter)(case);
                let places = sightings.iter().filter_map(|sighting| sighting.effect);
                places.filter_map(|place| case.effects.get(place)).map(|effect| effect.act).collect()
            });
            seen.extend(acts);
        }
    }
    let unseen: Vec<&str> = Act::ALL
        .iter()
        .filter(|act| act.weight() == Weight::Grave && !seen.contains(act))
        .map(|act| act.name())
        .collect();
    assert_eq!(unseen, Vec::<&str>::new());
}
