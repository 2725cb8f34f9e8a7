//! Drafts of profiles, from what a program's makers wrote for people and shells. The program is never run.
//!
//! INVARIANT: a draft lets nothing run. What is read are the names of options and subcommands; what they do is marked
//! unknown until a person says otherwise. Pages are read as data: nothing of them is more than a name or a comment.

mod gzip;

use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};

use portcullis_core::visible;
use portcullis_gate::Failure;
use portcullis_settings::disk::plain;
use portcullis_settings::profile_draft::{Draft, DraftOption, DraftValue};

/// How many options a draft lists.
const OPTION_LIMIT: usize = 400;

/// How much of a description is kept as a comment.
const COMMENT_WIDTH: usize = 90;

/// Finds the manual page and the completion files of a program.
pub(super) fn find_sources(name: &str, manual_path: &[PathBuf], home: Option<&Path>) -> Vec<PathBuf> {
    let shares: Vec<PathBuf> = ["/usr/local/share", "/usr/share", "/opt/homebrew/share"]
        .iter()
        .map(PathBuf::from)
        .chain(home.map(|home| home.join(".local/share")))
        .collect();
    let manuals = manual_path.iter().cloned().chain(shares.iter().map(|share| share.join("man")));
    let mut pages = manuals.flat_map(|manual| {
        ["1", "8", "6"].into_iter().flat_map(move |section| {
            [".gz", ""].map(|ending| manual.join(format!("man{section}/{name}.{section}{ending}")))
        })
    });
    let completions = shares.iter().flat_map(|share| {
        [
            share.join(format!("fish/vendor_completions.d/{name}.fish")),
            share.join(format!("fish/completions/{name}.fish")),
            share.join(format!("zsh/site-functions/_{name}")),
            share.join(format!("zsh/vendor-completions/_{name}")),
            share.join(format!("bash-completion/completions/{name}")),
        ]
    });
    let page = pages.find(|page| page.is_file());
    page.into_iter().chain(completions.filter(|file| file.is_file())).collect()
}

/// Reads the files and writes a draft of the profile.
pub(super) fn draft(name: &str, sources: &[PathBuf]) -> Result<String, Failure> {
    let mut all = Draft::default();
    for source in sources {
        let text = read(source).map_err(|why| Failure::usage(format!("`{}`: {why}", source.display())))?;
        all.add(parse(source, name, &text));
    }
    all.options.truncate(OPTION_LIMIT);
    Ok(render(name, &all, sources))
}

fn read(file: &Path) -> Result<String, String> {
    let metadata = fs::metadata(file).map_err(|error| plain(&error))?;
    if !metadata.is_file() || metadata.len() > u64::try_from(gzip::SIZE_LIMIT).unwrap_or(u64::MAX) {
        return Err("this is no page that could be read".to_owned());
    }
    let bytes = fs::read(file).map_err(|error| plain(&error))?;
    let bytes = if bytes.starts_with(&gzip::MAGIC) { gzip::unpack(&bytes, gzip::SIZE_LIMIT)? } else { bytes };
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

fn parse(file: &Path, name: &str, text: &str) -> Draft {
    let file_name = file.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    Draft::of_file(&file_name, name, text)
}

/// Makes a line of a comment, or the inside of a text, of words that somebody else wrote.
fn comment(text: &str) -> String {
    let words = text.split_whitespace().collect::<Vec<_>>().join(" ");
    let cut: String = words.chars().take(COMMENT_WIDTH).collect();
    visible(&cut).replace(['"', '\\'], "'")
}

fn render(name: &str, draft: &Draft, sources: &[PathBuf]) -> String {
    let mut out = String::new();
    for source in sources {
        let _ = writeln!(out, "# Drafted from {}.", comment(&source.to_string_lossy()));
    }
    if sources.is_empty() {
        out.push_str("# There is no manual page and no completion file to draft this from.\n");
    }
    out.push_str("# Nothing is known yet of what anything does: replace `unknown` where you know better.\n");
    let summary = draft.summary.as_deref().map(comment).filter(|summary| !summary.is_empty());
    let _ = writeln!(out, "names = [\"{name}\"]");
    let _ =
        writeln!(out, "summary = \"{}\"", summary.unwrap_or_else(|| "does what nobody said yet".to_owned()));
    out.push_str("does = [\"unknown\"]\noperands = [\"unknown*\"]\n");
    if !draft.options.is_empty() {
        out.push_str("options = [\n");
        for option in &draft.options {
            let about = comment(&option.about);
            if !about.is_empty() {
                let _ = writeln!(out, "    # {about}");
            }
            let _ = writeln!(out, "    \"{} {}\",", option.spellings.join(" "), meaning(option));
        }
        out.push_str("]\n");
    }
    for (sub, about) in &draft.subcommands {
        let about = comment(about);
        out.push('\n');
        if !about.is_empty() {
            let _ = writeln!(out, "# {about}");
        }
        let _ = writeln!(out, "[sub.{sub}]\ndoes = [\"unknown\"]\noperands = [\"unknown*\"]");
    }
    let _ = writeln!(out, "\n[[example]]\ncommand = \"{name}\"\neffects = [\"unknown\"]");
    out
}

/// Returns what a draft says of an option. Only what asks for help or the version is known to change nothing.
fn meaning(option: &DraftOption) -> &'static str {
    let is_help = option.spellings.iter().any(|spelling| matches!(spelling.as_str(), "--help" | "--version"));
    match option.value {
        DraftValue::None if is_help => "~dry",
        DraftValue::None => "!unknown",
        DraftValue::Required => "=unknown",
        DraftValue::Attached => "=?unknown !unknown",
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use portcullis_settings::check_profiles;

    use super::*;

    #[test]
    fn a_draft_is_a_profile_whose_every_use_is_unknown() {
        let page = ".TH ACME 1\n.SH NAME\nacme \\- does \"things\"\n.SH OPTIONS\n.TP\n\\fB\\-o\\fR, \\fB\\-\\-output\\fR=\\fIFILE\\fR\nwrite to FILE\n.TP\n.B \\-\\-help\nshow help\n";
        let draft = parse(Path::new("acme.1"), "acme", page);
        let text = render("acme", &draft, &[PathBuf::from("acme.1")]);
        assert!(text.contains("summary = \"does 'things'\""), "{text}");
        assert!(text.contains("    # write to FILE\n    \"-o --output =unknown\",\n"), "{text}");
        assert!(text.contains("\"--help ~dry\""), "{text}");
        assert_eq!(check_profiles(&text, &Arc::from("acme.toml")).problems, [], "{text}");
    }

    #[test]
    fn hostile_pages_stay_comments() {
        let page = ".SH NAME\nacme \\- x\"\ndoes = [\"observe\"]\n.SH OPTIONS\n.TP\n--\"], does = [\"observe\"]\nnew\n.TP\n-x \"\nline\"\n]\ndoes = [\"observe\"]\n.TP\n-y\n\u{1b}[31m \u{202e}\n";
        let text = render("acme", &parse(Path::new("acme.1"), "acme", page), &[]);
        let check = check_profiles(&text, &Arc::from("acme.toml"));
        assert_eq!(check.problems, [], "{text}");
        assert!(!text.contains("[\"observe\"]") && !text.contains('\u{1b}'), "{text}");
        assert_eq!(render("acme", &Draft::default(), &[]).matches("unknown").count(), 4);
    }
}
