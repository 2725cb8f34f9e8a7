//! `cargo dev house`: figures of the tree, or of another checkout, and the page that shows them.

use std::path::PathBuf;

use anyhow::{Context, Result, bail};

use crate::house::{self, CrateFigures, HouseFigures};
use crate::output;
use crate::repository::{self, TrackedTree};

pub(super) fn run(arguments: &[String]) -> Result<()> {
    let (mut tree, mut before, mut is_written, mut shows_names) = (None, None, false, false);
    let mut words = arguments.iter();
    while let Some(word) = words.next() {
        match word.as_str() {
            "--tree" => tree = Some(PathBuf::from(words.next().context("--tree needs a directory")?)),
            "--before" => before = Some(PathBuf::from(words.next().context("--before needs a directory")?)),
            "--write" => is_written = true,
            "--names" => shows_names = true,
            _ => bail!("usage: cargo dev house [--tree DIR] [--names] [--write [--before DIR]]"),
        }
    }
    let root = tree.unwrap_or_else(repository::root);
    let tree = TrackedTree::read(&root)?;
    if shows_names {
        print_shared_names(&tree);
        return Ok(());
    }
    let figures = HouseFigures::of(&tree);
    if is_written {
        let before = before.map(|directory| TrackedTree::read(&directory)).transpose()?;
        let before = before.map(|tree| HouseFigures::of(&tree));
        let old = tree.find(house::PAGE).map(|file| file.text.as_str()).unwrap_or_default();
        let page = (house::PAGE.to_owned(), house::write_page(old, before.as_ref(), &figures));
        return super::generate::write_pages(&root, &[page]);
    }
    print(&figures, &tree);
    Ok(())
}

fn print(figures: &HouseFigures, tree: &TrackedTree) {
    for (label, value) in &figures.whole {
        output::say(&format!("{label:<46} {value:>8}"));
    }
    output::say(&format!(
        "\n{:<24} {}",
        "crate",
        CrateFigures::LABELS.map(|label| format!("{label:>18}")).concat()
    ));
    for (name, figures) in &figures.crates {
        output::say(&format!("{name:<24} {}", figures.values().map(|value| format!("{value:>18}")).concat()));
    }
    output::say("");
    for cycle in house::module_cycles(tree) {
        output::say(&format!("{}: {}", cycle.crate_path, cycle.modules.join(", ")));
    }
}

/// Prints every name that stands for several types, with their places.
fn print_shared_names(tree: &TrackedTree) {
    let names = house::type_names(tree);
    for (name, places) in names.into_iter().filter(|(_, places)| places.len() > 1) {
        let places: Vec<String> = places.into_iter().map(|(file, line)| format!("{file}:{line}")).collect();
        output::say(&format!("{name}\n  {}", places.join("\n  ")));
    }
}
