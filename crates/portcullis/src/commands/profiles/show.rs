//! A profile, told to a person and to a program.

use std::fmt::Write as _;

use portcullis_core::profile::{
    Act, Flag, FlagValue, Form, OtherOptions, Profile, ProfileOrigin, Role, Style, Twist,
};
use portcullis_core::visible;
use portcullis_output::terminal::{BOLD, DIM, Painted};
use serde_json::{Value, json};

/// Tells a person what is known of a program.
pub(super) fn as_text(name: &str, profile: Profile<'_>, place: &str) -> String {
    let mut out = String::new();
    let heading = format!("{} {}", visible(name), visible(profile.summary));
    let _ = writeln!(out, "{}  {}", Painted(BOLD, heading), Painted(DIM, place));
    write_form(&mut out, profile.form, 1);
    out
}

fn write_form(out: &mut String, form: Form<'_>, depth: usize) {
    let indent = "  ".repeat(depth);
    for act in form.does() {
        let _ = writeln!(out, "{indent}always {}", act.clause());
    }
    for slot in form.operands() {
        let many = if slot.is_many { "any number of operands" } else { "an operand" };
        let _ = writeln!(out, "{indent}{many}: {}", role_text(slot.role));
    }
    if !form.reader.is_empty() {
        let _ = writeln!(out, "{indent}arguments are read by code of its own: {}", form.reader);
    }
    for flag in form.options() {
        let spellings: Vec<&str> = flag.spellings().collect();
        let _ = writeln!(out, "{indent}{}: {}", visible(&spellings.join(" ")), flag_text(flag));
    }
    let rest = others_text(form.other_options);
    let _ = writeln!(out, "{indent}{}", Painted(DIM, format_args!("other options are {rest}")));
    for (name, form) in form.subcommands() {
        let _ = writeln!(out, "{indent}{}", Painted(BOLD, visible(name)));
        write_form(out, form, depth + 1);
    }
}

fn others_text(others: OtherOptions) -> &'static str {
    match others {
        OtherOptions::Unknown => "unknown, so that they are asked about",
        OtherOptions::Common => "harmless if they are common switches, else unknown",
        OtherOptions::Harmless => "harmless if they take no value, else unknown",
        OtherOptions::Parameters => "parameters of a request",
    }
}

fn role_text(role: Role) -> String {
    match role {
        Role::Key => "the name of what is asked for".to_owned(),
        Role::Text => "plain text".to_owned(),
        Role::Target => "what the acts above are done to".to_owned(),
        Role::Data => "data that is sent; @FILE reads the file".to_owned(),
        Role::Command => "a command that is judged on its own".to_owned(),
        Role::Act(act) => act.clause().to_owned(),
    }
}

fn flag_text(flag: Flag<'_>) -> String {
    let mut said: Vec<String> = Vec::new();
    match flag.value {
        FlagValue::None => {}
        FlagValue::Required(role) => said.push(format!("takes a value: {}", role_text(role))),
        FlagValue::Attached(role) => said.push(format!("may take a value after `=`: {}", role_text(role))),
    }
    said.extend(flag.acts().map(|act| act.clause().to_owned()));
    match flag.twist {
        Twist::None => {}
        Twist::Dry => said.push("nothing is changed".to_owned()),
        Twist::Drop => said.push("takes the place of the first operand".to_owned()),
        Twist::Instead => said.push("in place of what is always done".to_owned()),
        Twist::Rest => said.push("everything after it is data".to_owned()),
    }
    if said.is_empty() { "harmless".to_owned() } else { said.join(", ") }
}

/// Tells a program what is known of a program.
pub(super) fn as_json(name: &str, profile: Profile<'_>, origin: Option<&ProfileOrigin>) -> Value {
    json!({
        "name": name,
        "summary": profile.summary,
        "source": origin.map_or("built-in", |origin| origin.source),
        "file": origin.map(|origin| &*origin.file),
        "form": form_json(profile.form),
    })
}

fn form_json(form: Form<'_>) -> Value {
    let operands: Vec<_> = form
        .operands()
        .into_iter()
        .map(|slot| json!({"role": role_name(slot.role), "many": slot.is_many}))
        .collect();
    let options: Vec<_> = form.options().map(flag_json).collect();
    let subcommands: serde_json::Map<String, Value> =
        form.subcommands().map(|(name, form)| (name.to_owned(), form_json(form))).collect();
    json!({
        "style": match form.style {
            Style::Gnu => "gnu",
            Style::SingleDash => "single-dash",
            Style::Windows => "windows",
        },
        "abbreviates": form.abbreviates,
        "other_options": match form.other_options {
            OtherOptions::Unknown => "unknown",
            OtherOptions::Common => "common",
            OtherOptions::Harmless => "harmless",
            OtherOptions::Parameters => "parameters",
        },
        "permutes": form.permutes,
        "reader": Some(form.reader).filter(|reader| !reader.is_empty()),
        "does": form.does().map(Act::name).collect::<Vec<_>>(),
        "operands": operands,
        "options": options,
        "subcommands": subcommands,
    })
}

fn role_name(role: Role) -> &'static str {
    match role {
        Role::Text => "text",
        Role::Target => "target",
        Role::Data => "data",
        Role::Command => "command",
        Role::Key => "key",
        Role::Act(act) => act.name(),
    }
}

fn flag_json(flag: Flag<'_>) -> Value {
    let (value, is_attached) = match flag.value {
        FlagValue::None => (None, false),
        FlagValue::Required(role) => (Some(role_name(role)), false),
        FlagValue::Attached(role) => (Some(role_name(role)), true),
    };
    json!({
        "spellings": flag.spellings().collect::<Vec<_>>(),
        "value": value,
        "only_attached": is_attached,
        "acts": flag.acts().map(Act::name).collect::<Vec<_>>(),
        "twist": match flag.twist {
            Twist::None => None,
            Twist::Dry => Some("dry"),
            Twist::Drop => Some("drop"),
            Twist::Instead => Some("instead"),
            Twist::Rest => Some("rest"),
        },
    })
}
