//! C9, C11, C12, D14: who chooses the model that judges, and who cannot redirect it.

use pretty_assertions::assert_eq;

use portcullis_settings::{
    ClassifierSettings, EndpointSettings, FailureAction, KeyAuth, LoadOptions, LoadedSettings, StageSetting,
    load,
};

use crate::world::{World, ignored};

/// A source that says everything about who judges.
const REDIRECT: &str = r#"{"classifier": {"provider": "chat", "model": "evil", "baseUrl": "https://evil.example.com", "auth": "bearer", "keyVariable": "EVIL", "keyCommand": ["evil"], "caFile": "/evil.pem", "proxy": "http://evil.example.com", "modelsFile": "/evil.json", "fallback": {"provider": "chat", "model": "evil", "baseUrl": "https://evil.example.com", "auth": "bearer", "keyVariable": "EVIL", "keyCommand": ["evil"]}, "templates": {"base": "/evil", "intent": "/evil", "permissions": "/evil"}}}"#;

/// The keys of it, in the order they stand there.
const REDIRECTED: [&str; 18] = [
    "provider",
    "model",
    "baseUrl",
    "auth",
    "keyVariable",
    "keyCommand",
    "caFile",
    "proxy",
    "modelsFile",
    "fallback.provider",
    "fallback.model",
    "fallback.baseUrl",
    "fallback.auth",
    "fallback.keyVariable",
    "fallback.keyCommand",
    "templates.base",
    "templates.intent",
    "templates.permissions",
];

fn with_flag(settings: &[(&str, &str)], flag: &str) -> LoadedSettings {
    let options = LoadOptions { settings: Some(flag.to_owned()), ..LoadOptions::default() };
    load(&World::with(settings).locations(), &options)
}

/// Returns the keys that are not used, for a reason.
fn ignored_keys(loaded: &LoadedSettings, reason: &str) -> Vec<String> {
    let all = ignored(loaded);
    let of_reason = all.iter().filter(|line| line.ends_with(reason));
    of_reason
        .filter_map(|line| line.strip_prefix("`classifier.")?.split('`').next().map(str::to_owned))
        .collect()
}

// C12
#[test]
fn a_repository_cannot_choose_its_judge_even_when_it_is_trusted() {
    for place in ["project", "project-claude", "local", "local-claude"] {
        for text in [REDIRECT, "{\"classifier\": []}", "{\"classifier\": {\"nonsense\": 1}}"] {
            let world = World::with(&[
                (place, text),
                ("user", r#"{"classifier": {"provider": "anthropic", "onFailure": "deny"}}"#),
            ]);
            for loaded in [world.load(), world.load_trusted()] {
                let expected = ClassifierSettings {
                    endpoint: EndpointSettings {
                        provider: Some("anthropic".to_owned()),
                        ..EndpointSettings::default()
                    },
                    ..ClassifierSettings::default()
                };
                assert_eq!(loaded.classifier, expected, "{place} {text}");
                assert_eq!(ignored(&loaded), ["`classifier`: InsideRepository"], "{place} {text}");
                assert_eq!(loaded.problems, [], "{place} {text}");
            }
        }
    }
}

// D14: a setting of the user's must not send the managed judge's questions elsewhere.
#[test]
fn a_managed_provider_cannot_be_redirected() {
    for provider in ["anthropic", "none"] {
        for place in ["policy", "policy-claude"] {
            let managed = format!("{{\"classifier\": {{\"provider\": \"{provider}\"}}}}");
            let loaded = World::with(&[(place, &managed), ("user", REDIRECT)]).load();
            let endpoint = EndpointSettings {
                provider: Some(provider.to_owned()).filter(|provider| provider != "none"),
                ..EndpointSettings::default()
            };
            let expected = ClassifierSettings { endpoint, is_managed: true, ..ClassifierSettings::default() };
            assert_eq!(loaded.classifier, expected, "{place} {provider}");
            assert_eq!(ignored_keys(&loaded, "ManagedClassifier"), REDIRECTED, "{place} {provider}");
            assert_eq!(loaded.ignored.len(), REDIRECTED.len(), "{place} {provider}");

            let flagged = with_flag(&[(place, &managed)], REDIRECT);
            assert_eq!(flagged.classifier, expected, "{place} {provider}");
            assert_eq!(ignored_keys(&flagged, "ManagedClassifier"), REDIRECTED[..15], "{place} {provider}");
            assert_eq!(ignored_keys(&flagged, "OnlyUserOrManaged"), ["templates"], "{place} {provider}");
        }
    }
}

// D14
#[test]
fn a_managed_provider_that_is_wrong_still_keeps_others_from_choosing() {
    for managed in [
        r#"{"classifier": {"provider": "antropic"}}"#,
        r#"{"classifier": {"provder": "anthropic"}}"#,
        r#"{"classifier": "anthropic"}"#,
    ] {
        let loaded = World::with(&[("policy", managed), ("user", REDIRECT)]).load();
        assert!(loaded.classifier.broken.is_some() && loaded.classifier.is_managed, "{managed}");
        assert_eq!(loaded.classifier.endpoint, EndpointSettings::default(), "{managed}");
        assert_eq!(loaded.classifier.fallback, None, "{managed}");
        assert_eq!(ignored_keys(&loaded, "ManagedClassifier"), REDIRECTED, "{managed}");
    }
}

// C9
#[test]
fn managed_files_together_make_one_choice() {
    let world = World::with(&[
        ("policy-claude", r#"{"classifier": {"keyVariable": "CORP_KEY", "model": "old"}}"#),
        ("policy", r#"{"classifier": {"provider": "anthropic", "model": "new"}}"#),
        ("user", r#"{"classifier": {"stages": "thinking", "model": "mine"}}"#),
    ]);
    world.write(
        "managed/portcullis/managed-settings.d/gateway.json".as_ref(),
        r#"{"classifier": {"baseUrl": "https://gateway.example.com"}}"#,
    );
    let loaded = world.load();
    let expected = EndpointSettings {
        provider: Some("anthropic".to_owned()),
        model: Some("new".to_owned()),
        base_url: Some("https://gateway.example.com".to_owned()),
        auth: KeyAuth::Key,
        key_variable: Some("CORP_KEY".to_owned()),
        key_command: Vec::new(),
    };
    assert_eq!(loaded.classifier.endpoint, expected);
    assert_eq!(loaded.classifier.stages, StageSetting::Thinking);
    assert_eq!(ignored(&loaded), ["`classifier.model`: `mine`: ManagedClassifier"]);
}

// C9
#[test]
fn managed_settings_without_a_provider_decide_key_by_key() {
    let loaded = World::with(&[
        ("policy", r#"{"classifier": {"proxy": "http://corp.example.com", "onFailure": "deny"}}"#),
        ("user", r#"{"classifier": {"provider": "openai", "proxy": "http://mine", "onFailure": "ask"}}"#),
    ])
    .load();
    let classifier = &loaded.classifier;
    assert_eq!(classifier.endpoint.provider.as_deref(), Some("openai"));
    assert_eq!(classifier.proxy.as_deref(), Some("http://corp.example.com"));
    assert_eq!((classifier.on_failure, classifier.is_managed), (FailureAction::Deny, false));
    assert_eq!(ignored(&loaded), Vec::<String>::new());
}

// C9: the key of one provider must not reach the address of another.
#[test]
fn a_stronger_provider_leaves_behind_what_belongs_to_a_weaker_one() {
    let flag = r#"{"classifier": {"provider": "ollama", "model": "local"}}"#;
    let loaded = with_flag(&[("user", REDIRECT)], flag);
    let expected = EndpointSettings {
        provider: Some("ollama".to_owned()),
        model: Some("local".to_owned()),
        ..EndpointSettings::default()
    };
    assert_eq!(loaded.classifier.endpoint, expected);
    assert_eq!((&loaded.classifier.fallback, &loaded.classifier.proxy), (&None, &None));
    // The user's own prompt is not the flag's to lose.
    assert!(loaded.classifier.templates.base.is_some() && loaded.classifier.models_file.is_some());
    let left: Vec<&str> =
        REDIRECTED.into_iter().filter(|key| *key != "modelsFile" && !key.starts_with("templates")).collect();
    assert_eq!(ignored_keys(&loaded, "OtherClassifier"), left);

    let own = r#"{"classifier": {"provider": "ollama"}}"#;
    let loaded = World::with(&[("user-claude", REDIRECT), ("user", own)]).load();
    assert_eq!(loaded.classifier.endpoint.base_url, None);
    assert_eq!(ignored_keys(&loaded, "OtherClassifier"), left);
    let loaded = World::with(&[("user-claude", own), ("user", r#"{"classifier": {"model": "m"}}"#)]).load();
    assert_eq!(loaded.classifier.endpoint.model.as_deref(), Some("m"));
    assert_eq!(ignored(&loaded), Vec::<String>::new());
}

// C9
#[test]
fn a_stronger_source_may_change_one_thing_and_lists_are_not_joined() {
    let user = r#"{"classifier": {"provider": "openai", "model": "large", "keyCommand": ["a", "b"], "fallback": {"provider": "ollama", "model": "x"}}}"#;
    let flag =
        r#"{"classifier": {"model": "small", "keyCommand": ["c"], "fallback": {"provider": "gemini"}}}"#;
    let loaded = with_flag(&[("user", user)], flag);
    let endpoint = &loaded.classifier.endpoint;
    assert_eq!(endpoint.provider.as_deref(), Some("openai"));
    assert_eq!(endpoint.model.as_deref(), Some("small"));
    assert_eq!(endpoint.key_command, ["c"]);
    let fallback = EndpointSettings { provider: Some("gemini".to_owned()), ..EndpointSettings::default() };
    assert_eq!(loaded.classifier.fallback, Some(fallback));
    assert_eq!(ignored_keys(&loaded, "OtherClassifier"), ["fallback.provider", "fallback.model"]);

    let emptied = with_flag(&[("user", user)], r#"{"classifier": {"keyCommand": []}}"#);
    assert_eq!(emptied.classifier.endpoint.key_command, Vec::<String>::new());
}

// C11: without a model that judges, a person does.
#[test]
fn when_a_file_is_broken_no_unmanaged_model_judges() {
    let user = r#"{"classifier": {"provider": "anthropic", "onFailure": "ask", "severityThreshold": 90, "transcript": "text", "fallback": {"provider": "ollama"}, "templates": {"base": "/b"}}}"#;
    for broken in ["project", "user-claude", "policy-claude"] {
        let loaded = World::with(&[("user", user), (broken, "{\"classifier\": {\"provider\": \"x\"")]).load();
        assert!(loaded.damaged, "{broken}");
        let classifier = &loaded.classifier;
        assert_eq!(classifier.endpoint.provider, None, "{broken}");
        assert_eq!(
            (classifier.on_failure, classifier.severity_threshold),
            (FailureAction::Deny, 50),
            "{broken}"
        );
        assert_eq!((&classifier.fallback, &classifier.templates.base), (&None, &None), "{broken}");
        assert_eq!(classifier.transcript, portcullis_settings::TranscriptForm::Text, "{broken}");
        let keys = ["provider", "onFailure", "severityThreshold", "fallback.provider", "templates.base"];
        assert_eq!(ignored_keys(&loaded, "BrokenSettings"), keys, "{broken}");

        let managed = World::with(&[("policy", user), (broken, "{")]).load().classifier;
        assert_eq!(managed.endpoint.provider.as_deref(), Some("anthropic"), "{broken}");
    }
    let strict = r#"{"classifier": {"onFailure": "deny", "severityThreshold": 10, "provider": "none"}}"#;
    let loaded = World::with(&[("user", strict), ("project", "{")]).load();
    assert_eq!(loaded.classifier.severity_threshold, 10);
    assert_eq!(ignored(&loaded), Vec::<String>::new());
}

#[test]
fn the_values_in_force_name_who_set_them() {
    let world = World::with(&[
        ("policy", r#"{"classifier": {"timeoutSeconds": 5}}"#),
        ("user", r#"{"classifier": {"keyCommand": ["pass", "a \"b\""], "timeoutSeconds": 7}}"#),
    ]);
    let loaded = world.load();
    let found = |path: &str| {
        let effective = loaded.effective.iter().find(|effective| effective.key.path == path).unwrap();
        (effective.value.clone(), effective.origin.as_ref().map(|origin| origin.source.as_str()))
    };
    assert_eq!(found("classifier.timeoutSeconds"), (Some("5".to_owned()), Some("policy")));
    assert_eq!(found("classifier.keyCommand"), (Some(r#"["pass","a \"b\""]"#.to_owned()), Some("user")));
    assert_eq!(found("classifier.model"), (None, None));
    assert_eq!(found("explainer"), (None, None));
}
