//! The pages of findings and allowances, from their tables and the comments of their files, and the index of the pages
//! that the binary holds.

use std::fmt::Write as _;
use std::path::Path;

use anyhow::{Context, Result};
use portcullis_core::allowances::{ALLOWANCES, Allowance};
use portcullis_core::findings::{ExampleCall, FINDINGS, Finding, Firmness};
use portcullis_core::visible;
use serde_json::json;

use super::{NOTICE, cell};
use crate::prose::paragraphs;

/// The directory of the pages; every file in it is generated.
pub(super) const DIRECTORY: &str = "docs/findings";

const INDEX: &str = "crates/portcullis-output/src/finding_page/pages.rs";

/// Returns every page, the page that lists them, and the index in the binary.
pub(super) fn pages(root: &Path) -> Result<Vec<(String, String)>> {
    let mut pages = Vec::new();
    for finding in FINDINGS {
        let text = finding_page(finding, &source(root, "findings", finding.name)?);
        pages.push((page_path(finding.code, finding.name), text));
    }
    for allowance in ALLOWANCES {
        let text = allowance_page(allowance, &source(root, "allowances", allowance.name)?);
        pages.push((page_path(allowance.code, allowance.name), text));
    }
    pages.push((format!("{DIRECTORY}/README.md"), overview()));
    pages.push((INDEX.to_owned(), index()));
    Ok(pages)
}

/// Returns the path of the page of a finding or an allowance.
pub fn page_path(code: &str, name: &str) -> String {
    format!("{DIRECTORY}/{}", file_name(code, name))
}

fn file_name(code: &str, name: &str) -> String {
    format!("{code}-{name}.md")
}

fn source(root: &Path, folder: &str, name: &str) -> Result<String> {
    let path = format!("crates/portcullis-analysis/src/{folder}/{}.rs", name.replace('-', "_"));
    std::fs::read_to_string(root.join(&path)).with_context(|| format!("cannot read `{path}`"))
}

fn finding_page(finding: &Finding, source: &str) -> String {
    let mut page = opening(finding.code, finding.name, source);
    let firmness = match finding.firmness {
        Firmness::Hard => "hard",
        Firmness::Soft { .. } => "soft",
    };
    let rows = [
        ("code", format!("`{}`", finding.code)),
        ("category", format!("`{}`", finding.category)),
        ("severity", finding.severity.as_str().to_owned()),
        ("firmness", firmness.to_owned()),
        ("fine instead", finding.instead.to_owned()),
        ("on request", on_request(finding)),
        ("cleared by", clearance(finding)),
    ];
    add_properties(&mut page, &rows);
    add_samples(&mut page, "Examples it finds", finding.hits);
    add_samples(&mut page, "Examples it leaves alone", finding.misses);
    page
}

fn allowance_page(allowance: &Allowance, source: &str) -> String {
    let mut page = opening(allowance.code, allowance.name, source);
    let cleared = FINDINGS.iter().filter(|finding| allowance.clears.contains(&finding.code));
    let links: Vec<String> = cleared.map(|finding| link(finding.code, finding.name)).collect();
    let clears = if links.is_empty() { "nothing".to_owned() } else { links.join(", ") };
    add_properties(&mut page, &[("code", format!("`{}`", allowance.code)), ("clears", clears)]);
    add_samples(&mut page, "Examples it covers", allowance.hits);
    add_samples(&mut page, "Examples it leaves open", allowance.misses);
    page
}

/// Makes the notice, the heading and the prose.
fn opening(code: &str, name: &str, source: &str) -> String {
    let mut page = format!("{NOTICE}\n\n# {code} {name}\n");
    for paragraph in paragraphs(source) {
        // Writing to a string cannot fail.
        let _ = write!(page, "\n{}\n", paragraph.join("\n"));
    }
    page
}

fn add_properties(page: &mut String, rows: &[(&str, String)]) {
    page.push_str("\n| property | value |\n|---|---|\n");
    for (name, value) in rows {
        let _ = writeln!(page, "| {name} | {} |", cell(value));
    }
}

/// Says what clears a finding: words of the user, and allowances.
/// Says what an order of the user does to a finding.
fn on_request(finding: &Finding) -> String {
    match finding.firmness {
        Firmness::Hard => "denied all the same".to_owned(),
        Firmness::Soft { verbs, must_name } => {
            let verbs: Vec<String> = verbs.iter().map(|verb| format!("`{verb}`")).collect();
            let verbs = match verbs.as_slice() {
                [first @ .., last] if !first.is_empty() => format!("{} or {last}", first.join(", ")),
                all => all.join(""),
            };
            format!(
                "put to the judge or a person, if the user's own order says {verbs} or repeats the command; it should name {must_name}"
            )
        }
    }
}

/// Names the allowances that clear a finding.
fn clearance(finding: &Finding) -> String {
    let allowances = ALLOWANCES.iter().filter(|allowance| allowance.clears.contains(&finding.code));
    let links: Vec<String> = allowances.map(|allowance| link(allowance.code, allowance.name)).collect();
    if links.is_empty() { "nothing".to_owned() } else { links.join("; ") }
}

fn link(code: &str, name: &str) -> String {
    format!("[{code} {name}]({})", file_name(code, name))
}

fn add_samples(page: &mut String, heading: &str, samples: &[ExampleCall]) {
    let _ = write!(page, "\n## {heading}\n\n```console\n");
    for sample in samples {
        let _ = writeln!(page, "{}", sample_text(*sample));
    }
    page.push_str("```\n");
}

/// Writes an example the way a terminal would show it; what would not be seen is spelled out.
fn sample_text(sample: ExampleCall) -> String {
    match sample {
        ExampleCall::Bash(command) => prompted("$ ", "> ", command),
        ExampleCall::PowerShell(command) => prompted("PS> ", ">> ", command),
        ExampleCall::Call(tool, fields) => {
            let field = |(name, value): &(&str, &str)| format!("{}: {}", json!(name), json!(value));
            let fields: Vec<String> = fields.iter().map(field).collect();
            visible(&format!("{tool} {{{}}}", fields.join(", "))).into_owned()
        }
    }
}

fn prompted(first: &str, next: &str, command: &str) -> String {
    let prompts = std::iter::once(first).chain(std::iter::repeat(next));
    let lines = command.split('\n').zip(prompts).map(|(line, prompt)| format!("{prompt}{}", visible(line)));
    lines.map(|line| line.trim_end().to_owned()).collect::<Vec<_>>().join("\n")
}

/// Makes the page that lists all codes.
fn overview() -> String {
    let mut page = format!(
        "{NOTICE}\n\n# Findings and allowances\n\n\
         A finding is what a careful colleague would stop; an allowance is what needs no question.\n\
         [Static analysis](../concepts/static-analysis.md) says how both come about and what they decide.\n\
         `portcullis explain CODE` prints these pages.\n\n\
         ## Findings\n\n\
         A soft finding that the user asked for goes to the judge or a person; a hard one is denied whatever is said.\n\n\
         | code | name | what the call does | category | severity | firmness |\n|---|---|---|---|---|---|\n"
    );
    for finding in FINDINGS {
        let firmness = if finding.firmness == Firmness::Hard { "hard" } else { "soft" };
        let _ = writeln!(
            page,
            "| [{}]({}) | {} | {} | `{}` | {} | {firmness} |",
            finding.code,
            file_name(finding.code, finding.name),
            finding.name,
            cell(finding.title),
            finding.category,
            finding.severity.as_str(),
        );
    }
    page.push_str("\n## Allowances\n\n| code | name | what it allows | clears |\n|---|---|---|---|\n");
    for allowance in ALLOWANCES {
        let _ = writeln!(
            page,
            "| [{}]({}) | {} | {} | {} |",
            allowance.code,
            file_name(allowance.code, allowance.name),
            allowance.name,
            cell(allowance.title),
            allowance.clears.join(", "),
        );
    }
    page
}

/// Makes the file that puts the pages into the binary.
fn index() -> String {
    let mut code = String::from(
        "//! The pages of findings and allowances. Generated by `cargo dev generate-all`; do not edit.\n\n\
         /// Every code with the Markdown of its page.\n\
         pub(super) static PAGES: &[(&str, &str)] = &[\n",
    );
    let findings = FINDINGS.iter().map(|finding| (finding.code, finding.name));
    let allowances = ALLOWANCES.iter().map(|allowance| (allowance.code, allowance.name));
    for (key, name) in findings.chain(allowances) {
        let _ = writeln!(code, "    (\"{key}\", include_str!(\"../../../../{}\")),", page_path(key, name));
    }
    code.push_str("];\n");
    code
}

#[cfg(test)]
mod tests {
    use portcullis_core::findings::with_code;

    use super::*;

    #[test]
    fn samples_look_as_in_a_terminal_and_hide_nothing() {
        let table = [
            (ExampleCall::Bash("git push -f"), "$ git push -f"),
            (ExampleCall::Bash("cat <<X\n```\nX"), "$ cat <<X\n> ```\n> X"),
            (ExampleCall::Bash("echo \u{202e}x"), "$ echo \\u{202e}x"),
            (ExampleCall::PowerShell("ls"), "PS> ls"),
            (
                ExampleCall::Call("Write", &[("file_path", "a"), ("content", "b\n")]),
                r#"Write {"file_path": "a", "content": "b\n"}"#,
            ),
        ];
        for (sample, expected) in table {
            assert_eq!(sample_text(sample), expected);
        }
    }

    #[test]
    fn a_page_holds_prose_properties_and_examples() {
        let page = finding_page(with_code("PC007").unwrap(), "//! Overwriting.\n//!\n//! It is\n//! bad.\n");
        for part in [
            "\n# PC007 git-force-push\n\nOverwriting.\n\nIt is bad.\n",
            "\n| severity | high |\n| firmness | soft |\n",
            " or `overwrite` or repeats the command; it should name the forced push and the branch |\n",
            "\n## Examples it finds\n\n```console\n$ git push --force origin main\n",
            "\n## Examples it leaves alone\n\n```console\n$ git push origin feature/login\n",
        ] {
            assert!(page.contains(part), "no {part:?} in\n{page}");
        }
    }

    #[test]
    fn allowances_are_named_among_what_clears_a_finding() {
        assert!(
            clearance(with_code("PC011").unwrap())
                .ends_with("[PA05 toolchain-bootstrap](PA05-toolchain-bootstrap.md)")
        );
        assert_eq!(clearance(with_code("PC031").unwrap()), "nothing");
    }
}
