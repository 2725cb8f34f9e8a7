//! A line that runs over a layer and is committed leaves what it would have left without one. Many lines, made by a
//! generator with fixed seeds.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::MetadataExt as _;
use std::path::Path;

use pretty_assertions::assert_eq;

use crate::Pasture;
use crate::yard::{Who, text};

/// A small generator of numbers: the same ones for the same seed.
struct Numbers(u64);

impl Numbers {
    fn below(&mut self, most: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        usize::try_from(self.0 >> 33).expect("a number") % most
    }

    fn of<'a>(&mut self, choices: &[&'a str]) -> &'a str {
        choices[self.below(choices.len())]
    }
}

const NAMES: [&str; 12] = ["a", "b", "c", "d", "d/a", "d/b", "d/e", "d/e/a", "e", "e/f", "e/f/g", "h"];

fn step(numbers: &mut Numbers) -> String {
    let (one, other) = (numbers.of(&NAMES), numbers.of(&NAMES));
    match numbers.below(13) {
        0 | 1 => format!("echo {} > {one}", numbers.below(100)),
        2 => format!("echo more >> {one}"),
        3 => format!("rm -f {one}"),
        4 => format!("rm -rf {one}"),
        5 => format!("mkdir -p {one}"),
        6 => format!("mv -T {one} {other}"),
        7 => format!("ln -s {other} {one}"),
        8 => format!("chmod {} {one}", numbers.of(&["u=rwX,go=", "u=rwX,g=rX,o=", "u=rwX,go=rX"])),
        9 => format!("rm -rf {one} && mkdir -p {one} && echo z > {one}/new"),
        10 => format!("cp -rT {one} {other}"),
        11 => format!("rm -rf {one} && echo file > {one}"),
        _ => format!("touch -d @{} {one}", 1_000_000_000 + numbers.below(1000)),
    }
}

/// Everything that can be seen of a tree, but for times of directories, which the commit itself may change.
fn picture(root: &Path) -> BTreeMap<String, String> {
    let mut seen = BTreeMap::new();
    let mut open = vec![root.to_path_buf()];
    while let Some(directory) = open.pop() {
        for entry in fs::read_dir(&directory).expect("a directory").flatten() {
            let path = entry.path();
            let metadata = fs::symlink_metadata(&path).expect("an entry");
            let content = if metadata.is_symlink() {
                format!("link {}", fs::read_link(&path).expect("a link").display())
            } else if metadata.is_dir() {
                open.push(path.clone());
                format!("directory {:o}", metadata.mode())
            } else {
                format!("file {:o} {:?}", metadata.mode(), fs::read_to_string(&path).expect("a file"))
            };
            seen.insert(path.strip_prefix(root).expect("below").display().to_string(), content);
        }
    }
    seen
}

/// `FENCE_SEEDS=from,to` tries others.
fn seeds() -> std::ops::Range<u64> {
    let chosen = std::env::var("FENCE_SEEDS").ok();
    let chosen = chosen.as_deref().and_then(|text| text.split_once(','));
    chosen.map_or(0..60, |(from, to)| from.parse().expect("a number")..to.parse().expect("a number"))
}

#[test]
fn a_committed_run_equals_a_plain_one() {
    for seed in seeds() {
        let mut numbers = Numbers(seed);
        // Root can do more outside than inside.
        let pasture = Pasture::new(*Who::everybody().last().expect("somebody"));
        let plain = pasture.yard.root().join("home/plain");
        let begin: Vec<String> = (0..12).map(|_| step(&mut numbers)).collect();
        let begin = format!("{{ {}; }} 2>/dev/null; true", begin.join("; "));
        fs::create_dir(&plain).expect("a directory");
        pasture.yard.give_away();
        for place in [&plain, &pasture.yard.workspace()] {
            let status = pasture.yard.plain(&["bash", "-c", &begin]).current_dir(place).status();
            assert!(status.expect("it runs").success());
        }
        assert_eq!(picture(&plain), picture(&pasture.yard.workspace()));

        let steps: Vec<String> = (0..10).map(|_| step(&mut numbers)).collect();
        let line = format!("{{ {}; }} 2>/dev/null; true", steps.join("; "));
        let status = pasture.yard.plain(&["bash", "-c", &line]).current_dir(&plain).status();
        assert!(status.expect("it runs").success());
        let before = picture(&pasture.yard.workspace());
        let record = pasture.observe(&line);
        assert_eq!(picture(&pasture.yard.workspace()), before, "seed {seed}: something landed");
        if !record.changes.is_empty() {
            let output = pasture.commit(&record.id, &[]);
            assert!(output.status.success(), "seed {seed}: {}\n{line}", text(&output));
        }
        assert_eq!(picture(&pasture.yard.workspace()), picture(&plain), "seed {seed}: {begin}\n{line}");
    }
}
