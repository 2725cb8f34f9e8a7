//! The reader against tables and, for acceptance and values, against `serde_json`.

use pretty_assertions::assert_eq;

use super::*;

/// Turns a tree into `serde_json`'s, the last of repeated names winning.
fn plain(node: &JsonNode<'_>) -> serde_json::Value {
    match &node.value {
        JsonValue::Null => serde_json::Value::Null,
        JsonValue::Bool(flag) => serde_json::Value::Bool(*flag),
        JsonValue::Number(number) => serde_json::json!(number),
        JsonValue::String(text) => serde_json::Value::String(text.to_string()),
        JsonValue::Array(nodes) => serde_json::Value::Array(nodes.iter().map(plain).collect()),
        JsonValue::Object(members) => serde_json::Value::Object(
            members.iter().map(|member| (member.name.to_string(), plain(&member.node))).collect(),
        ),
    }
}

/// Makes every number a float, as the reader keeps them.
fn floats(value: serde_json::Value) -> serde_json::Value {
    match value {
        serde_json::Value::Number(number) => serde_json::json!(number.as_f64().unwrap()),
        serde_json::Value::Array(values) => values.into_iter().map(floats).collect(),
        serde_json::Value::Object(map) => {
            serde_json::Value::Object(map.into_iter().map(|(name, value)| (name, floats(value))).collect())
        }
        other => other,
    }
}

fn check_against_serde(text: &str) {
    let reading = read(text);
    let strict = reading.mistake.is_none() && reading.extension.is_none();
    match serde_json::from_str::<serde_json::Value>(text) {
        Ok(expected) => {
            assert!(strict, "serde_json takes {text:?}, the reader says {:?}", reading.mistake);
            assert_eq!(plain(reading.root.as_ref().unwrap()), floats(expected), "{text:?}");
        }
        Err(error) => assert!(!strict, "serde_json refuses {text:?}: {error}"),
    }
}

/// Texts at the border of JSON, one to a line of the source so that a failing one is easily found.
#[rustfmt::skip]
const BORDER_CASES: &[&str] = &[
    "", " ", "{}", "[]", "null", "true", "false", "tru", "truex", "nulll", "0", "-0", "01", "-", "1.", ".5", "1.5",
    "1e5", "1E+5", "1e-5", "1e", "1e+", "1e400", "-1e400", "123456789012345678901234567890", "+1", "0x1", "NaN",
    "Infinity", "\"\"", "\"a\"", "\"\\u0041\"", "\"\\ud83e\\udd80\"", "\"\\ud83e\"", "\"\\udd80\"",
    "\"\\ud83e\\u0041\"", "\"\\ud83ex\"", "\"\\u00g0\"", "\"\\u12\"", "\"\\u+123\"", "\"\\x41\"", "\"\\", "\"",
    "\"a\nb\"", "\"a\tb\"", "\"\u{7f}\"", "\"é日🦀\"", "\"\\\"\\\\\\/\\b\\f\\n\\r\\t\"", "'a'", "[1,2]", "[1,,2]",
    "[1 2]", "[,1]", "[1,]", "[", "]", "[1", "[1,", "{\"a\":1}", "{\"a\":1,}", "{\"a\"}", "{\"a\":}", "{\"a\" 1}",
    "{a:1}", "{\"a\":1 \"b\":2}", "{,}", "{", "}", "{\"a\":{\"b\":[{}]}}", "{\"a\":1,\"a\":2}", "1 2", "{} x", "// c\n1",
    "/* c */1", "1/", "\u{feff}1", "\u{a0}1", "\r\n\t 1 \r\n", "\u{b}1", "[true,false,null,\"x\"]", "{\"\":0}",
    "\"\u{2028}\"", "[1.0e+2]",
];

#[test]
fn strict_acceptance_and_values_agree_with_serde_json_at_the_border() {
    for text in BORDER_CASES {
        check_against_serde(text);
    }
}

/// A small generator: reproducible, no seed from outside.
struct Dice(u64);

impl Dice {
    fn roll(&mut self, sides: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        usize::try_from(self.0 % sides as u64).unwrap()
    }
}

#[test]
fn strict_acceptance_and_values_agree_with_serde_json_on_random_token_soup() {
    let tokens = [
        "{",
        "}",
        "[",
        "]",
        ",",
        ":",
        "\"a\"",
        "\"b\\n\"",
        "\"\\u00e9\"",
        "\"\\ud800\"",
        "1",
        "-2.5e3",
        "0",
        "true",
        "false",
        "null",
        " ",
        "\n",
        "\t",
        "\"",
        "\\",
        "é",
        "//",
        "/*",
        "*/",
        "nul",
        "\u{0}",
    ];
    let mut dice = Dice(0x9e37_79b9_7f4a_7c15);
    for _ in 0..60_000 {
        let length = dice.roll(12);
        let text: String = (0..length).map(|_| tokens[dice.roll(tokens.len())]).collect();
        check_against_serde(&text);
    }
}

#[test]
fn damaged_settings_agree_with_serde_json_and_never_panic() {
    let whole = "{\n  \"permissions\": {\"allow\": [\"Bash(ls *)\", \"Read(~/é)\"], \"n\": [1.5, true, null]},\n  \"x\": {}\n}\n";
    let replacements = ["", "\"", "{", "}", "[", "]", ",", ":", "\\", "0", "\u{1}", "日"];
    for (at, character) in whole.char_indices() {
        let (head, rest) = whole.split_at(at);
        let (_, tail) = rest.split_at(character.len_utf8());
        check_against_serde(head);
        for replacement in replacements {
            check_against_serde(&format!("{head}{replacement}{tail}"));
        }
    }
}

#[test]
fn comments_and_trailing_commas_are_read_and_the_first_is_marked() {
    for (text, name, line, column) in [
        ("// one\n{}", "a comment", 1, 1),
        ("{} /* after */", "a comment", 1, 4),
        ("{\n  \"a\": [1, 2,], // later\n}", "a trailing comma", 2, 13),
        ("{\"a\":1,}", "a trailing comma", 1, 7),
        ("/* é\n */ [1 /**/ , 2]", "a comment", 1, 1),
    ] {
        let reading = read(text);
        assert_eq!(reading.mistake, None, "{text}");
        let extension = reading.extension.unwrap();
        assert_eq!(
            (extension.name, extension.position.line, extension.position.column),
            (name, line, column),
            "{text}"
        );
    }
    assert_eq!(read("{\"a\": \"// not one, /* nor this\"}").extension, None);
}

#[test]
fn mistakes_say_what_was_expected_and_where() {
    for (text, message, line, column, length) in [
        ("", "expected a value, found the end of the file", 1, 1, 1),
        ("{\"a\": 1\n \"b\": 2}", "expected `,` or `}`, found `\"`", 2, 2, 1),
        ("[1 2]", "expected `,` or `]`, found `2`", 1, 4, 1),
        ("{'a': 1}", "expected a key in double quotes, found `'`", 1, 2, 1),
        ("{\"a\" = 1}", "expected `:` after the key, found `=`", 1, 6, 1),
        ("{\"a\": yes}", "expected a value, found the bare word `yes`", 1, 7, 3),
        ("[\"é\", \"open]\n]", "this string does not end on its line", 1, 7, 6),
        ("[\"\\q\"]", "a backslash in a string must begin an escape", 1, 3, 2),
        ("[\"\\ud800\"]", "this escape is not a character", 1, 3, 6),
        ("[-]", "expected a digit, found `]`", 1, 3, 1),
        ("[1e999]", "this number is out of range", 1, 2, 5),
        ("{} {}", "expected the end of the file, found `{`", 1, 4, 1),
        ("/* open", "this comment does not end", 1, 1, 1),
        ("[\u{0}]", "expected a value, found the character U+0000", 1, 2, 1),
        ("[\u{202e}]", "expected a value, found the character U+202E", 1, 2, 1),
    ] {
        let mistake = read(text).mistake.unwrap();
        assert_eq!(
            (mistake.message.as_str(), mistake.position),
            (message, TextPosition { line, column, length }),
            "{text:?}"
        );
    }
}

#[test]
fn what_stands_before_a_mistake_is_kept() {
    let reading = read("{\"a\": {\"b\": [\"x\", \"y\", oops, \"z\"]}, \"c\": 1}");
    assert!(reading.mistake.is_some());
    assert_eq!(plain(&reading.root.unwrap()), serde_json::json!({"a": {"b": ["x", "y"]}}));
}

#[test]
fn nesting_is_bounded_and_positions_survive_long_lines() {
    let deep = |levels: usize| "[".repeat(levels) + &"]".repeat(levels);
    assert_eq!(read(&deep(64)).mistake, None);
    assert_eq!(read(&deep(65)).mistake.unwrap().message, "nested deeper than 64 levels");
    assert_eq!(read(&"{\"a\":".repeat(100_000)).mistake.unwrap().message, "nested deeper than 64 levels");

    let wide = format!("[{}1]", "\"é\",".repeat(200_000));
    let reading = read(&wide);
    let Some(JsonNode { value: JsonValue::Array(nodes), .. }) = reading.root else { panic!("not a list") };
    assert_eq!(nodes.last().unwrap().position, TextPosition { line: 1, column: 800_002, length: 1 });
}
