//! Dumps are redacted, private and capped, and nothing that stands in their way is touched.
#![cfg(test)]

use std::fs;
use std::path::{Path, PathBuf};

use portcullis_store::{DumpDirectory, StoreError};
use pretty_assertions::assert_eq;

const LOCK: &str = ".portcullis-dumps.lock";

fn names(directory: &Path) -> Vec<String> {
    let entries =
        fs::read_dir(directory).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap());
    let mut names: Vec<String> = entries.filter(|name| !name.starts_with('.')).collect();
    names.sort();
    names
}

fn total(directory: &Path) -> u64 {
    names(directory).iter().map(|name| fs::metadata(directory.join(name)).unwrap().len()).sum()
}

/// A directory of dumps that is not made yet, in one that is removed at the end.
fn dumps(cap_bytes: u64) -> (tempfile::TempDir, PathBuf, DumpDirectory) {
    let root = tempfile::tempdir().unwrap();
    let directory = root.path().join("state").join("dumps");
    (root, directory.clone(), DumpDirectory::new(directory, cap_bytes))
}

#[test]
fn a_dump_holds_the_text_without_its_secrets() {
    let (_root, directory, dumps) = dumps(DumpDirectory::DEFAULT_CAP_BYTES);
    let secret = ["sk-ant-", &"a1".repeat(30)].concat();
    let path =
        dumps.write("20260101T000000-request.json", &format!("{{\"key\":\"{secret}\",\"é\":1}}")).unwrap();
    assert_eq!(path, directory.join("20260101T000000-request.json"));
    assert_eq!(fs::read_to_string(path).unwrap(), "{\"key\":\"[redacted:anthropic-key]\",\"é\":1}");
    assert_eq!(dumps.directory(), directory);
    assert_eq!(DumpDirectory::DEFAULT_CAP_BYTES, 32 * 1024 * 1024);
}

#[test]
fn nothing_is_made_before_something_is_written() {
    let (_root, directory, _dumps) = dumps(1_000);
    assert!(!directory.exists());
}

#[cfg(unix)]
#[test]
fn directory_and_files_are_private() {
    use std::os::unix::fs::PermissionsExt as _;
    let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o7777;
    let (_root, directory, dumps) = dumps(1_000);
    let path = dumps.write("a", "text").unwrap();
    assert_eq!((mode(&directory), mode(&path), mode(&directory.join(LOCK))), (0o700, 0o600, 0o600));
    fs::set_permissions(&directory, fs::Permissions::from_mode(0o755)).unwrap();
    dumps.write("b", "text").unwrap();
    assert_eq!(mode(&directory), 0o700);
}

#[cfg(unix)]
#[test]
fn a_directory_behind_a_link_is_refused() {
    let (root, directory, dumps) = dumps(1_000);
    let elsewhere = root.path().join("elsewhere");
    fs::create_dir(&elsewhere).unwrap();
    fs::create_dir(directory.parent().unwrap()).unwrap();
    std::os::unix::fs::symlink(&elsewhere, &directory).unwrap();
    assert_eq!(dumps.write("a", "text").unwrap_err(), StoreError::Link { file: directory });
    assert_eq!(fs::read_dir(&elsewhere).unwrap().count(), 0);
}

#[cfg(unix)]
#[test]
fn links_inside_are_neither_followed_nor_removed() {
    let (root, directory, dumps) = dumps(100);
    let target = root.path().join("target");
    fs::write(&target, "precious").unwrap();
    dumps.write("1", "first").unwrap();
    std::os::unix::fs::symlink(&target, directory.join("2")).unwrap();
    let path = dumps.write("2", &"x".repeat(90)).unwrap();
    assert_eq!(path, directory.join("2-2"), "the link is a name that is taken");
    dumps.write("3", &"y".repeat(90)).unwrap();
    assert_eq!(fs::read_to_string(&target).unwrap(), "precious");
    assert_eq!(names(&directory), ["2", "3"]);
    fs::remove_file(directory.join(LOCK)).unwrap();
    std::os::unix::fs::symlink(&target, directory.join(LOCK)).unwrap();
    assert_eq!(dumps.write("4", "z").unwrap_err(), StoreError::Link { file: directory.join(LOCK) });
    assert_eq!(fs::read_to_string(&target).unwrap(), "precious");
}

#[cfg(unix)]
#[test]
fn a_directory_of_somebody_else_is_refused() {
    let (_root, directory, dumps) = dumps(1_000);
    dumps.write("a", "text").unwrap();
    match std::os::unix::fs::chown(&directory, Some(12_345), None) {
        Ok(()) => {
            assert_eq!(
                dumps.write("b", "text").unwrap_err(),
                StoreError::Exposed { file: directory.clone() }
            );
        }
        // Only the superuser can give a directory away; nobody else could write into it afterwards.
        Err(error) => assert_eq!(error.kind(), std::io::ErrorKind::PermissionDenied),
    }
    assert!(directory.join("a").exists());
}

#[test]
fn a_file_in_the_place_of_the_directory_is_an_error() {
    let (_root, directory, dumps) = dumps(1_000);
    fs::create_dir(directory.parent().unwrap()).unwrap();
    fs::write(&directory, "precious").unwrap();
    let expected = StoreError::WrongKind { file: directory.clone(), expected: "a directory" };
    assert_eq!(dumps.write("a", "text").unwrap_err(), expected);
    assert_eq!(fs::read_to_string(&directory).unwrap(), "precious");
}

#[test]
fn a_directory_of_other_files_is_refused_and_left_alone() {
    let (_root, directory, dumps) = dumps(10);
    fs::create_dir_all(&directory).unwrap();
    fs::write(directory.join("thesis.txt"), "precious and long").unwrap();
    let error = dumps.write("a", "text").unwrap_err();
    assert!(matches!(error, StoreError::WrongKind { .. }), "{error}");
    assert_eq!(names(&directory), ["thesis.txt"]);
}

#[test]
fn the_oldest_dumps_make_room() {
    let (_root, directory, dumps) = dumps(300);
    for number in 10..20 {
        dumps.write(&format!("{number}.txt"), &"x".repeat(100)).unwrap();
        assert!(total(&directory) <= 300);
    }
    assert_eq!(names(&directory), ["17.txt", "18.txt", "19.txt"]);
    dumps.write("20.txt", &"x".repeat(250)).unwrap();
    assert_eq!(names(&directory), ["20.txt"]);
}

#[test]
fn a_text_that_is_too_long_loses_its_middle() {
    let (_root, _directory, dumps) = dumps(DumpDirectory::DEFAULT_CAP_BYTES);
    let path = dumps.write("a", &format!("begin {} end", "é".repeat(DumpDirectory::MOST_BYTES))).unwrap();
    let text = fs::read_to_string(path).unwrap();
    assert!(
        text.len() <= DumpDirectory::MOST_BYTES && text.len() > DumpDirectory::MOST_BYTES - 100,
        "{}",
        text.len()
    );
    assert!(text.starts_with("begin é") && text.ends_with("é end"));
    let cut: usize = text.split("\n[").nth(1).unwrap().split(' ').next().unwrap().parse().unwrap();
    let note = format!("\n[{cut} bytes are cut out here]\n");
    assert_eq!(text.len() - note.len() + cut, 2 * DumpDirectory::MOST_BYTES + "begin  end".len());
}

#[test]
fn a_secret_across_the_cut_is_gone_before_the_cut() {
    let (_root, _directory, dumps) = dumps(200);
    let secret = ["ghp_", &"a1".repeat(300)].concat();
    let path = dumps.write("a", &format!("{} {secret} {}", "x ".repeat(100), "y ".repeat(100))).unwrap();
    let text = fs::read_to_string(path).unwrap();
    assert!(text.len() <= 200 && !text.contains("a1a1"), "{text}");
}

#[test]
fn a_cap_without_room_is_an_error_and_no_panic() {
    for cap in [0, 1, 10] {
        let (_root, directory, dumps) = dumps(cap);
        let error = dumps.write("a", "a text of more than ten bytes").unwrap_err();
        assert!(error.to_string().contains("the cap on dumps leaves no room"), "{error}");
        assert!(!directory.exists());
    }
}

#[test]
fn no_name_leaves_the_directory() {
    let (root, directory, dumps) = dumps(10_000);
    let cases = [
        ("../../escape", "escape"),
        ("/etc/passwd", "etc_passwd"),
        ("..", "dump"),
        ("", "dump-2"),
        (".portcullis-dumps.lock", "portcullis-dumps.lock"),
        ("a\0b\nc d\\e:é", "a_b_c_d_e__"),
        ("2026-01-01T00:00:00Z request.json", "2026-01-01T00_00_00Z_request.json"),
        ("2026-01-01T00:00:00Z request.json", "2026-01-01T00_00_00Z_request-2.json"),
    ];
    for (name, expected) in cases {
        assert_eq!(dumps.write(name, "text").unwrap(), directory.join(expected), "{name}");
    }
    let long = dumps.write(&"n".repeat(5_000), "text").unwrap();
    assert_eq!(long.file_name().unwrap().len(), 120);
    assert_eq!(names(root.path()), ["state"]);
    assert_eq!(names(directory.parent().unwrap()), ["dumps"]);
}

#[test]
fn many_writers_at_once_lose_nothing_and_keep_the_cap() {
    let (_root, directory, dumps) = dumps(8 * 25 * 10);
    std::thread::scope(|scope| {
        for thread in 0..8 {
            let dumps = &dumps;
            scope.spawn(move || {
                for number in 0..25 {
                    let text = format!("{thread:04}-{number:04}\n");
                    let path = dumps.write("same.txt", &text).unwrap();
                    assert_eq!(fs::read_to_string(path).unwrap(), text);
                }
            });
        }
    });
    let mut texts: Vec<String> =
        names(&directory).iter().map(|name| fs::read_to_string(directory.join(name)).unwrap()).collect();
    texts.sort();
    let expected: Vec<String> =
        (0..8).flat_map(|thread| (0..25).map(move |number| format!("{thread:04}-{number:04}\n"))).collect();
    assert_eq!(texts, expected);
}

#[test]
fn many_writers_at_once_never_exceed_the_cap() {
    let (_root, directory, dumps) = dumps(1_000);
    std::thread::scope(|scope| {
        for thread in 0..8 {
            let dumps = &dumps;
            scope.spawn(move || {
                for number in 0..20 {
                    dumps.write(&format!("{number:02}-{thread}"), &"x".repeat(90)).unwrap();
                }
            });
        }
    });
    assert_eq!(total(&directory), 990);
    assert_eq!(names(&directory).len(), 11);
}
