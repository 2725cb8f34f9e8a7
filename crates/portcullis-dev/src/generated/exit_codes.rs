//! The page of exit codes, from the documented variants of the binary's `ExitCode`.

use std::fmt::Write as _;
use std::path::Path;

use anyhow::{Context, Result, ensure};

use super::{NOTICE, cell};

const SOURCE: &str = "crates/portcullis/src/exit_code.rs";

pub(super) fn page(root: &Path) -> Result<String> {
    let source =
        std::fs::read_to_string(root.join(SOURCE)).with_context(|| format!("cannot read `{SOURCE}`"))?;
    let codes = read_codes(&source);
    ensure!(!codes.is_empty(), "`{SOURCE}` has no documented exit codes");
    let mut page = format!(
        "{NOTICE}\n\n# Exit codes\n\nA stable contract: 0 is never the answer to a failure.\n\n\
         | code | name | meaning |\n|---|---|---|\n"
    );
    for (name, code, meaning) in codes {
        // Writing to a string cannot fail.
        let _ = writeln!(page, "| {code} | {name} | {} |", cell(&meaning));
    }
    page.push_str(
        "\n`portcullis hook HOST` answers in the host's own way.\n\
         For most hosts that is JSON with exit code 0, and exit code 2 when something failed.\n\
         Amp goes by the exit code alone: 0 allow, 1 ask, 2 reject.\n",
    );
    Ok(page)
}

/// Reads lines such as `Deny = 2,` with the doc comment above them.
fn read_codes(source: &str) -> Vec<(String, u8, String)> {
    let mut codes = Vec::new();
    let mut documentation = Vec::new();
    for line in source.lines().map(str::trim) {
        if let Some(text) = line.strip_prefix("/// ") {
            documentation.push(text);
            continue;
        }
        let variant = line.strip_suffix(',').and_then(|line| line.split_once(" = "));
        if let Some((name, code)) = variant.and_then(|(name, code)| Some((name, code.parse().ok()?))) {
            codes.push((name.to_owned(), code, documentation.join(" ")));
        }
        documentation.clear();
    }
    codes
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn documented_variants_are_read() {
        let source = "/// How it ended.\npub enum ExitCode {\n    /// It was\n    /// denied.\n    Deny = 2,\n}\nlet x = 3;\n";
        assert_eq!(read_codes(source), [("Deny".to_owned(), 2, "It was denied.".to_owned())]);
    }
}
