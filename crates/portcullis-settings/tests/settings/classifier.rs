//! D6–D15: what every key of the classifier does, right and wrong.

use std::path::PathBuf;

use pretty_assertions::assert_eq;

use portcullis_settings::{
    ClassifierSettings, EndpointSettings, ExplainerSetting, FailureAction, KeyAuth, LimitAction, LoadOptions,
    LoadedSettings, StageSetting, TemplateFiles, TranscriptForm, VerdictForm, load,
};

use crate::world::{World, ignored, messages};

/// Loads user settings with this `classifier`.
fn with(classifier: &str) -> LoadedSettings {
    World::with(&[("user", &format!("{{\"classifier\": {classifier}}}"))]).load()
}

// D16
#[test]
fn without_settings_nobody_is_asked_and_failures_deny() {
    let loaded = World::new().load();
    assert_eq!(loaded.classifier, ClassifierSettings::default());
    assert_eq!(loaded.explainer, ExplainerSetting::Offline);
    let usual = ClassifierSettings::default();
    assert_eq!((usual.endpoint.provider, usual.broken, usual.is_managed), (None, None, false));
    assert_eq!((usual.on_failure, usual.on_limit), (FailureAction::Deny, LimitAction::Abort));
}

#[test]
fn the_defaults_are_those_of_the_key_table() {
    let loaded = World::new().load();
    let usual = loaded.classifier;
    let numbers = [
        ("classifier.severityThreshold", usual.severity_threshold.to_string()),
        ("classifier.timeoutSeconds", usual.timeout_seconds.to_string()),
        ("classifier.transcriptTokens", usual.transcript_tokens.to_string()),
        ("classifier.projectInstructions", usual.project_instructions.to_string()),
        ("classifier.dump", usual.dump.to_string()),
    ];
    for (path, value) in numbers {
        assert_eq!(portcullis_settings::SettingsKey::find(path).unwrap().default, value, "{path}");
    }
}

// D6, D7, D12, D13, D14, D15
#[test]
fn every_key_reaches_the_classifier() {
    let text = include_str!("../samples/valid/user.everything.json");
    let world = World::with(&[("user", text)]);
    let loaded = world.load();
    let words = |words: &[&str]| words.iter().map(|word| (*word).to_owned()).collect::<Vec<_>>();
    let some = |text: &str| Some(text.to_owned());
    let file = |path: &str| Some(world.path(path));
    let expected = ClassifierSettings {
        endpoint: EndpointSettings {
            provider: some("anthropic"),
            model: some("claude-haiku-5-5"),
            base_url: some("https://gateway.example.com/anthropic"),
            auth: KeyAuth::Bearer,
            key_variable: some("GATEWAY_KEY"),
            key_command: words(&["pass", "show", "gateway"]),
        },
        fallback: Some(EndpointSettings {
            provider: some("ollama"),
            model: some("llama4"),
            base_url: some("http://127.0.0.1:11434"),
            auth: KeyAuth::Key,
            key_variable: some("OLLAMA_KEY"),
            key_command: Vec::new(),
        }),
        ca_file: file("home/.config/portcullis/corporate.pem"),
        proxy: some("http://proxy.example.com:8080"),
        models_file: file("home/models.json"),
        templates: TemplateFiles {
            base: file("home/.config/portcullis/prompts/base.md"),
            intent: file("home/prompts/intent.md"),
            permissions: Some(PathBuf::from("/etc/portcullis/permissions.md")),
        },
        stages: StageSetting::Thinking,
        verdict: VerdictForm::Severity,
        severity_threshold: 30,
        timeout_seconds: 10,
        has_own_timeout: true,
        on_failure: FailureAction::Ask,
        on_limit: LimitAction::Deny,
        transcript: TranscriptForm::Compact,
        transcript_tokens: 4_000,
        project_instructions: false,
        dump: true,
        is_managed: false,
        broken: None,
    };
    assert_eq!(loaded.classifier, expected);
    assert_eq!(loaded.explainer, ExplainerSetting::Model);
}

#[test]
fn findings_are_reviewed_only_where_a_provider_is_named_and_nothing_is_damaged() {
    let reviews = |text: &str| with(text).policy.reviews_findings;
    assert!(reviews(r#"{"provider": "ollama", "reviewFindings": true}"#));
    assert!(!reviews(r#"{"provider": "ollama"}"#));
    assert!(!reviews(r#"{"reviewFindings": true}"#));
    assert!(!reviews(r#"{"provider": "none", "reviewFindings": true}"#));
    assert!(!reviews(r#"{"provider": "ollama", "reviewFindings": "true"}"#));
    let text = r#"{"classifier": {"provider": "ollama", "reviewFindings": true}}"#;
    let damaged = World::with(&[("user", text), ("project", "{ broken")]).load();
    assert!(!damaged.policy.reviews_findings);
}

// D13: a wrong value is never read as the laxer one.
#[test]
fn what_is_wrong_is_taken_strictly() {
    for value in ["\"allow\"", "\"ASK\"", "\"\"", "true", "null", "[\"ask\"]", "{}", "0"] {
        let result = with(&format!("{{\"onFailure\": {value}, \"onLimit\": {value}, \"stages\": {value}}}"));
        let classifier = &result.classifier;
        assert_eq!(
            (classifier.on_failure, classifier.on_limit, classifier.stages),
            (FailureAction::Deny, LimitAction::Abort, StageSetting::Thinking),
            "{value}"
        );
        assert_eq!((result.problems.len(), classifier.broken.as_ref()), (3, None), "{value}");
    }
    for value in ["0", "101", "-1", "50.5", "1e9", "\"50\"", "null", "true", "[]"] {
        let result = with(&format!("{{\"severityThreshold\": {value}}}"));
        assert_eq!(result.classifier.severity_threshold, 1, "{value}");
        assert_eq!(result.problems.len(), 1, "{value}");
    }
}

#[test]
fn numbers_are_whole_and_in_their_range() {
    for (key, good, bad, usual) in [
        ("timeoutSeconds", ["1", "59", "6e1", "60.0"], ["0", "61", "0.5", "-60"], 25),
        ("transcriptTokens", ["500", "200000", "1e4", "501"], ["499", "200001", "1e308", "-0"], 12_000),
    ] {
        let number = |value: &str| {
            let result = with(&format!("{{\"{key}\": {value}}}"));
            let ClassifierSettings { timeout_seconds, transcript_tokens, .. } = result.classifier;
            let number = if key == "timeoutSeconds" { timeout_seconds } else { transcript_tokens };
            (number, result.problems.len())
        };
        for value in good {
            let (found, problems) = number(value);
            assert_eq!((f64::from(found), problems), (value.parse().unwrap(), 0), "{key} {value}");
        }
        for value in bad {
            assert_eq!(number(value), (usual, 1), "{key} {value}");
        }
    }
}

/// Values that say who judges, each of them wrong.
const WRONG: [&str; 27] = [
    r#"{"provider": "antropic"}"#,
    r#"{"provider": null}"#,
    r#"{"provider": "Anthropic"}"#,
    r#"{"model": ""}"#,
    r#"{"model": "a\u0000b"}"#,
    r#"{"model": "a\nb"}"#,
    r#"{"baseUrl": "ftp://example.com"}"#,
    r#"{"baseUrl": "https://"}"#,
    r#"{"baseUrl": "https://exam ple.com"}"#,
    r#"{"baseUrl": "https://key@example.com"}"#,
    r#"{"baseURL": "https://example.com"}"#,
    r#"{"base_url": "https://example.com"}"#,
    r#"{"auth": "none"}"#,
    r#"{"keyVariable": "1KEY"}"#,
    r#"{"keyVariable": "A KEY"}"#,
    r#"{"keyVariable": ""}"#,
    r#"{"keyCommand": ["pass", null]}"#,
    r#"{"keyCommand": ["pass", "a\u0000"]}"#,
    r#"{"keyCommand": ["~other/bin/key"]}"#,
    r#"{"keyCommand": ["", "x"]}"#,
    r#"{"caFile": "a\u0000"}"#,
    r#"{"proxy": "socks5://example.com"}"#,
    r#"{"modelsFile": "  "}"#,
    r#"{"templates": {"base": 1}}"#,
    r#"{"templates": "base.md"}"#,
    r#"{"template": {"base": "base.md"}}"#,
    "[]",
];

// D13: a judge that cannot be the one that was meant is none, and no weaker source's either.
#[test]
fn a_wrong_value_that_says_who_judges_makes_the_classifier_unusable() {
    let weaker = r#"{"classifier": {"provider": "anthropic", "model": "m", "baseUrl": "https://a.example.com", "auth": "key", "keyVariable": "K", "keyCommand": ["k"], "caFile": "/c", "proxy": "http://p", "modelsFile": "/m", "templates": {"base": "/b"}}}"#;
    for wrong in WRONG {
        // A flag has no say about the prompt, neither right nor wrong.
        let by_flag = !wrong.contains("template");
        for flag in [false, true].into_iter().filter(|flag| by_flag || !flag) {
            let text = format!("{{\"classifier\": {wrong}}}");
            let world = World::with(&[if flag { ("user", weaker) } else { ("user", text.as_str()) }]);
            let options = LoadOptions { settings: flag.then_some(text.clone()), ..LoadOptions::default() };
            let result = load(&world.locations(), &options);
            assert_eq!(result.problems.len(), 1, "{wrong}");
            let broken = result.classifier.broken.as_deref().unwrap_or_else(|| panic!("{wrong}"));
            assert!(
                broken.starts_with("the value of `classifier.") && broken.ends_with("; repair it"),
                "{broken}"
            );
        }
    }
    let world = World::with(&[("user", "{\"classifier\": {\n\"provider\": \"antropic\"}}")]);
    assert_eq!(
        world.load().classifier.broken,
        Some(format!(
            "the value of `classifier.provider` is wrong ({}:2); repair it",
            world.place("user").display()
        ))
    );
}

#[test]
fn a_stronger_sound_value_makes_up_for_a_wrong_one() {
    let world = World::with(&[
        ("user-claude", r#"{"classifier": {"provider": "antropic"}}"#),
        ("user", r#"{"classifier": {"provider": "anthropic"}}"#),
    ]);
    let loaded = world.load();
    assert_eq!(loaded.classifier.broken, None);
    assert_eq!(loaded.classifier.endpoint.provider.as_deref(), Some("anthropic"));
    assert_eq!(loaded.problems.len(), 1);
}

// D13
#[test]
fn a_wrong_fallback_is_none_and_leaves_the_first_one_alone() {
    for wrong in [
        r#""ollama""#,
        r#"{"provider": "olama"}"#,
        r#"{"provider": "ollama", "baseUrl": "localhost"}"#,
        r#"{"provider": "ollama", "auth": "basic"}"#,
        r#"{"provider": "ollama", "modell": "x"}"#,
        r#"{"provider": "ollama", "keyVariable": "sk-1"}"#,
        r#"{"provider": "ollama", "keyCommand": "x"}"#,
    ] {
        let result = with(&format!("{{\"provider\": \"anthropic\", \"fallback\": {wrong}}}"));
        assert_eq!(result.problems.len(), 1, "{wrong}");
        assert_eq!(result.classifier.fallback, None, "{wrong}");
        assert_eq!(result.classifier.broken, None, "{wrong}");
        assert_eq!(result.classifier.endpoint.provider.as_deref(), Some("anthropic"), "{wrong}");
    }
    assert_eq!(with(r#"{"fallback": {"provider": "none", "model": "m"}}"#).classifier.fallback, None);
    assert_eq!(with(r#"{"fallback": {"model": "m"}}"#).classifier.fallback, None);
}

#[test]
fn none_is_a_provider_that_nobody_is() {
    let result = with(r#"{"provider": "none"}"#);
    assert_eq!(result.classifier, ClassifierSettings::default());
    assert_eq!(messages(&result), Vec::<String>::new());
}

// The agent's directory is whatever the repository made of it.
#[test]
fn no_path_is_relative_to_where_the_agent_works() {
    let world = World::new();
    world.write(
        "ci/settings.json".as_ref(),
        r#"{"classifier": {"caFile": "../ca.pem", "keyCommand": ["bin/key", "bin/key", "./x"]}}"#,
    );
    let options = LoadOptions { settings: Some("../ci/settings.json".to_owned()), ..LoadOptions::default() };
    let loaded = load(&world.locations(), &options);
    let key = world.path("ci/bin/key").to_str().unwrap().to_owned();
    assert_eq!(loaded.classifier.ca_file, Some(world.path("ca.pem")));
    assert_eq!(loaded.classifier.endpoint.key_command, [key.as_str(), "bin/key", "./x"]);

    for (classifier, sound) in [
        (r#"{"caFile": "ca.pem"}"#, false),
        (r#"{"modelsFile": "./models.json"}"#, false),
        (r#"{"keyCommand": ["./key"]}"#, false),
        (r#"{"keyCommand": ["bin/key"]}"#, false),
        (r#"{"caFile": "~/ca.pem", "keyCommand": ["key"]}"#, true),
        (r#"{"caFile": "/ca.pem", "keyCommand": ["/bin/key"]}"#, true),
    ] {
        let settings = format!("{{\"classifier\": {classifier}}}");
        let options = LoadOptions { settings: Some(settings), ..LoadOptions::default() };
        let loaded = load(&world.locations(), &options);
        assert_eq!(loaded.classifier.broken.is_none(), sound, "{classifier}");
        assert_eq!(loaded.problems.is_empty(), sound, "{classifier}");
    }
}

#[test]
fn managed_paths_are_relative_to_their_own_file() {
    let world = World::with(&[("policy", r#"{"classifier": {"templates": {"base": "prompts/base.md"}}}"#)]);
    let base = world.load().classifier.templates.base;
    assert_eq!(base, Some(world.path("managed/portcullis/prompts/base.md")));
}

// D10
#[test]
fn the_prompt_is_taken_from_user_and_managed_settings_alone() {
    let options = LoadOptions {
        settings: Some(r#"{"classifier": {"templates": {"base": "/b"}, "stages": "fast"}}"#.to_owned()),
        ..LoadOptions::default()
    };
    let loaded = load(&World::new().locations(), &options);
    assert_eq!(loaded.classifier.templates, TemplateFiles::default());
    assert_eq!(loaded.classifier.stages, StageSetting::Fast);
    assert_eq!(ignored(&loaded), ["`classifier.templates`: OnlyUserOrManaged"]);
    for place in ["user", "user-claude", "policy"] {
        let world = World::with(&[(place, r#"{"classifier": {"templates": {"base": "/b"}}}"#)]);
        assert_eq!(world.load().classifier.templates.base, Some(PathBuf::from("/b")), "{place}");
    }
}

// Keys come from the environment or a command, and reports go to logs.
#[test]
fn no_report_shows_what_may_be_a_key_or_a_password() {
    for classifier in [
        r#"{"keyVariable": "sk-HIDDEN"}"#,
        r#"{"apiKey": "sk-HIDDEN"}"#,
        r#"{"secretToken": "sk-HIDDEN"}"#,
        r#"{"baseUrl": "https://me:HIDDEN@example.com"}"#,
        r#"{"proxy": "me:HIDDEN@example.com"}"#,
        r#"{"fallback": {"key": "sk-HIDDEN"}}"#,
    ] {
        let result = with(classifier);
        assert_eq!(result.problems.len(), 1, "{classifier}");
        let report = result.problems[0].to_string();
        assert!(!report.contains("HIDDEN"), "{report}");
        assert!(result.problems[0].hint.is_some() && result.problems[0].place.is_some(), "{report}");
    }
    let result = with(r#"{"proxy": "http://me:HIDDEN@proxy.example.com"}"#);
    assert_eq!(result.classifier.proxy.as_deref(), Some("http://me:HIDDEN@proxy.example.com"));
    let shown = result.effective.iter().find(|value| value.key.path == "classifier.proxy").unwrap();
    assert_eq!(shown.value.as_deref(), Some("http://…@proxy.example.com"));
}

#[test]
fn a_flood_of_unknown_keys_is_counted_and_leaves_no_judge() {
    let names: Vec<String> = (0..20_000).map(|number| format!("\"zz{number}\": 0")).collect();
    let result = with(&format!("{{\"provider\": \"anthropic\", {}}}", names.join(", ")));
    assert_eq!(result.problems.len(), 51);
    assert!(result.classifier.broken.is_some());
}
