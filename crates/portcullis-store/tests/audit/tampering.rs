//! Every way to change a trail that the chain gives away, and those that only an end seen before gives away.

use std::fs;

use portcullis_store::audit::Head;
use portcullis_store::audit::index::Filter;
use pretty_assertions::assert_eq;

use crate::sample::{Trail, entry};

/// Changes the lines of a trail of six records and returns the first break.
fn first_break(change: impl FnOnce(&mut Vec<String>)) -> Option<String> {
    let trail = Trail::of(6);
    let mut lines = trail.lines();
    change(&mut lines);
    trail.set_current(&format!("{}\n", lines.join("\n")));
    trail.breaks().into_iter().next()
}

#[test]
fn a_changed_line_is_found() {
    let found = first_break(|lines| {
        let line = &mut lines[2];
        *line = line.replace("\"ask\"", "\"allow\"");
    });
    let expected = "current.jsonl:4: record 4 does not follow from what stands before it, which was changed or is not all there";
    assert_eq!(found.as_deref(), Some(expected));
}

#[test]
fn a_removed_line_is_found() {
    let found = first_break(|lines| drop(lines.remove(2)));
    assert_eq!(found.as_deref(), Some("current.jsonl:3: record 3 is missing before it"));
    let found = first_break(|lines| drop(lines.drain(0..2)));
    assert_eq!(found.as_deref(), Some("current.jsonl:1: records 1 to 2 are missing before it"));
}

#[test]
fn lines_that_changed_places_are_found() {
    let found = first_break(|lines| lines.swap(2, 3));
    assert_eq!(found.as_deref(), Some("current.jsonl:3: record 3 is missing before it"));
}

#[test]
fn an_added_line_is_found() {
    let copied = first_break(|lines| lines.insert(2, lines[1].clone()));
    assert_eq!(copied.as_deref(), Some("current.jsonl:3: record 2 stands where 3 belongs"));
    let strange = "current.jsonl:3: it is no record, and no record says that it was torn";
    let found = first_break(|lines| lines.insert(2, "{\"n\":3".to_owned()));
    assert_eq!(found.as_deref(), Some(strange));
    let forged = "current.jsonl:3: no process of Portcullis wrote this line";
    for added in ["", "x", "{\"n\":4", "{}", "# a comment", "{\"n\":3}", "{\"n\":3,\"id\":\"x"] {
        let found = first_break(|lines| lines.insert(2, added.to_owned()));
        assert_eq!(found.as_deref(), Some(forged), "{added:?}");
    }
}

#[test]
fn a_line_that_is_made_to_look_torn_is_found() {
    let found = first_break(|lines| {
        let line = &mut lines[2];
        line.truncate(line.len() / 2);
    });
    let expected = "current.jsonl:3: it is no record, and no record says that it was torn";
    assert_eq!(found.as_deref(), Some(expected));
}

#[test]
fn a_torn_line_that_was_changed_or_removed_is_found() {
    let torn = || {
        let trail = Trail::of(2);
        trail.set_current(&format!("{}{{\"n\":3,\"id", trail.current()));
        trail.add(2..4);
        assert_eq!(trail.breaks(), [] as [&str; 0]);
        trail
    };
    let trail = torn();
    trail.set_current(&trail.current().replace("{\"n\":3,\"id\n", ""));
    assert_eq!(trail.breaks(), ["current.jsonl:3: the torn line that it was written after is missing"]);
    let trail = torn();
    trail.set_current(&trail.current().replace("{\"n\":3,\"id\n", "{\"n\":3,\"if\n"));
    assert_eq!(trail.breaks(), ["current.jsonl:3: no process of Portcullis wrote this line"]);
}

#[test]
fn a_line_of_somebody_else_is_forged_wherever_it_stands_and_whatever_comes_after_it() {
    let forged = |trail: &Trail| {
        let found = trail.audit.verify(&[], None).unwrap();
        assert!(!found.is_whole());
        let places: Vec<u64> =
            found.breaks.iter().filter(|found| found.is_forged).map(|found| found.line).collect();
        (places, found.torn.len())
    };
    let lines = [
        "hello\n",
        "hello",
        "\n",
        "{}\n",
        "\u{0}x\n",
        "{\"n\":3,\"decision\":\"allow\"}\n",
        "{\"n\":3,\"x\":",
    ];
    for added in lines {
        let trail = Trail::of(2);
        trail.set_current(&format!("{}{added}", trail.current()));
        assert_eq!(forged(&trail), (vec![3], 0), "{added:?}");
        // The next writer cannot refuse to write, and names what it finds; that makes nothing of it.
        trail.add(2..4);
        assert_eq!(forged(&trail), (vec![3], 0), "{added:?}");
    }
    // A record of another trail is one out of its place.
    let other = Trail::of(5);
    let trail = Trail::of(2);
    trail.set_current(&format!("{}{}", trail.current(), other.lines()[4].get(..200).unwrap()));
    assert_eq!(forged(&trail), (vec![3], 0));
    // Zeros are what a power cut leaves.
    let trail = Trail::of(2);
    trail.set_current(&format!("{}{}", trail.current(), "\0".repeat(4096)));
    trail.add(2..3);
    let found = trail.audit.verify(&[], None).unwrap();
    assert_eq!((found.is_whole(), found.torn.len()), (true, 1));
}

#[test]
fn an_empty_trail_is_found_where_somebody_knows_better() {
    let trail = Trail::of(6);
    let kept = trail.audit.head().unwrap().unwrap();
    trail.audit.count(&Filter::default()).unwrap();
    let first = |trail: &Trail, seen: &[Head]| {
        let found = trail.audit.verify(seen, None).unwrap();
        found.breaks.first().map(|found| found.what.clone())
    };
    let missing = "the last records are missing: there were 6, and now 0 is the last".to_owned();
    // The index remembers, whether the file is empty or gone.
    trail.set_current("");
    assert_eq!(first(&trail, &trail.audit.seen_heads().unwrap()), Some(missing.clone()));
    fs::remove_file(trail.file("current.jsonl")).unwrap();
    assert_eq!(first(&trail, &trail.audit.seen_heads().unwrap()), Some(missing.clone()));
    // A head that was kept elsewhere remembers when the index is gone too.
    fs::remove_dir_all(trail.file("")).unwrap();
    assert_eq!(first(&trail, std::slice::from_ref(&kept)), Some(missing));
    assert_eq!(trail.audit.verify(&[], Some(&kept.hash)).unwrap().has_expected, Some(false));
    // An anchor that claims that retention took everything is no excuse: it leaves the newest records.
    fs::create_dir(trail.file("")).unwrap();
    for (number, hash) in [(6, kept.hash.as_str()), (6, "00"), (900, "00")] {
        let anchor = format!(r#"{{"number":{number},"hash":"{hash}","segment":1,"removed_ms":1}}"#);
        fs::write(trail.file("anchor.json"), anchor).unwrap();
        let found = trail.audit.verify(std::slice::from_ref(&kept), None).unwrap();
        assert!(!found.is_whole(), "{number} {hash}: {found:?}");
    }
    // Whoever never recorded anything has lost nothing.
    assert!(Trail::new().audit.verify(&[], None).unwrap().is_whole());
}

#[test]
fn a_missing_file_is_found() {
    let made = || {
        let trail = Trail::of(3);
        trail.seal(1);
        trail.add(3..5);
        trail.seal(2);
        trail.add(5..7);
        trail
    };
    for (number, expected) in [
        (1, "000002.jsonl:1: records 1 to 3 are missing before it"),
        (2, "current.jsonl:1: records 4 to 5 are missing before it"),
    ] {
        let trail = made();
        fs::remove_file(trail.file(&format!("{number:06}.jsonl"))).unwrap();
        assert_eq!(trail.breaks(), [expected]);
    }
    let trail = made();
    fs::write(trail.file("000001.jsonl"), "").unwrap();
    assert_eq!(trail.breaks(), ["000002.jsonl:1: records 1 to 3 are missing before it"]);
}

#[test]
fn a_rest_at_the_end_of_a_full_file_is_found() {
    let trail = Trail::of(2);
    trail.seal(1);
    trail.add(2..3);
    let first = trail.file("000001.jsonl");
    fs::write(&first, format!("{}x\n", fs::read_to_string(&first).unwrap())).unwrap();
    assert_eq!(trail.breaks(), ["000001.jsonl:3: no process of Portcullis wrote this line"]);
}

#[test]
fn a_trail_that_was_cut_or_made_anew_is_found_by_an_end_that_was_seen() {
    let trail = Trail::of(6);
    let seen = [trail.audit.head().unwrap().unwrap()];
    let check = |trail: &Trail| {
        let found = trail.audit.verify(&seen, None).unwrap();
        (found.is_whole(), found.breaks.first().map(|found| found.what.clone()))
    };
    trail.add(6..8);
    assert_eq!(check(&trail), (true, None));

    let whole = trail.lines();
    trail.set_current(&format!("{}\n", whole[..4].join("\n")));
    assert_eq!(trail.breaks(), [] as [&str; 0], "the chain alone does not show it");
    let cut = "the last records are missing: there were 6, and now 4 is the last";
    assert_eq!(check(&trail), (false, Some(cut.to_owned())));

    trail.add(20..30);
    let other = "record 6 is not the one that was seen before";
    assert_eq!(check(&trail), (false, Some(other.to_owned())));

    fs::remove_dir_all(trail.file("")).unwrap();
    let gone = "the last records are missing: there were 6, and now 0 is the last";
    assert_eq!(check(&trail), (false, Some(gone.to_owned())));
    trail.add(0..6);
    assert_eq!(check(&trail), (true, None), "the same decisions in the same process make the same trail");
}

#[test]
fn a_number_that_cannot_go_on_is_no_panic() {
    let trail = Trail::of(1);
    trail.set_current(&trail.current().replace("{\"n\":1,", &format!("{{\"n\":{},", u64::MAX)));
    trail.add(1..3);
    assert!(!trail.audit.verify(&[Head { number: 1, hash: String::new() }], None).unwrap().is_whole());
    assert_eq!(entry(1).host, "claude");
}
