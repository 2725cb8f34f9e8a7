//! Checks that every settings key is documented and appears in a sample file.

use portcullis_settings::KEYS;

use super::TidyProblem;
use crate::repository::TrackedTree;

const PAGE: &str = "docs/reference/settings.md";
const SAMPLES: &str = "crates/portcullis-settings/tests/samples/";

/// Checks every row of the key table.
pub fn find_undocumented_keys(tree: &TrackedTree) -> Vec<TidyProblem> {
    let page = tree.find(PAGE).map(|file| file.text.as_str()).unwrap_or_default();
    let mut problems = Vec::new();
    for key in KEYS {
        if key.description.trim().is_empty() || !page.contains(&format!("`{}`", key.path)) {
            problems.push(TidyProblem::new(PAGE, 0, format!("`{}` is not documented", key.path)));
        }
        let quoted = format!("\"{}\"", key.path.rsplit('.').next().unwrap_or(key.path));
        let samples = tree.files().iter().filter(|file| file.path.starts_with(SAMPLES));
        if !samples.into_iter().any(|file| file.text.contains(&quoted)) {
            problems.push(TidyProblem::new(SAMPLES, 0, format!("no sample sets `{}`", key.path)));
        }
    }
    problems
}
