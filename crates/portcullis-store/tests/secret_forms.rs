//! Every form of `data/secret-forms.toml` is found, and what only looks like one stays.
//!
//! No secret here is a real one, and none stands in this file in one piece.
#![cfg(test)]

use portcullis_core::secret_form::{SecretBytes, SecretForm, SecretPart};
use portcullis_store::redact;
use pretty_assertions::assert_eq;

/// A source of numbers that looks random and is the same every time.
struct Dice(u64);

impl Dice {
    fn below(&mut self, limit: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        usize::try_from(self.0 % u64::try_from(limit).unwrap()).unwrap()
    }

    /// Makes bytes of a class, with small letters, capitals and digits by turns where it has them.
    fn bytes(&mut self, class: SecretBytes, count: usize) -> String {
        let sets = ["abcdefghijkmnpqrstuvwxyz", "ABCDEFGHJKLMNPQRSTUVWXYZ", "23456789"];
        let fitting: Vec<Vec<char>> = sets
            .iter()
            .map(|set| set.chars().filter(|one| class.has(u8::try_from(*one).unwrap())).collect())
            .filter(|set: &Vec<char>| !set.is_empty())
            .collect();
        let mut made = String::new();
        for place in 0..count {
            let set = &fitting[(place + self.below(2)) % fitting.len()];
            made.push(set[self.below(set.len())]);
        }
        made
    }

    fn secret(&mut self, form: &SecretForm) -> String {
        let mut made = form.before.map(|(class, count)| self.bytes(class, count)).unwrap_or_default();
        made.push_str(&form.text);
        for part in &form.rest {
            match part {
                SecretPart::Text(text) => made.push_str(text),
                SecretPart::Bytes { class, least, is_exact } => {
                    let more = if *is_exact { 0 } else { self.below(8) };
                    made.push_str(&self.bytes(*class, least + more));
                }
            }
        }
        made
    }
}

struct Row {
    kind: String,
    form: SecretForm,
    keeps_text: bool,
}

fn rows() -> Vec<Row> {
    let table: toml::Table = include_str!("../data/secret-forms.toml").parse().unwrap();
    let mut rows = Vec::new();
    for token in table["token"].as_array().unwrap() {
        let kind = token["kind"].as_str().unwrap().to_owned();
        let keeps_text = token.get("keep").is_some();
        for form in token["forms"].as_array().unwrap() {
            let form = SecretForm::parse(form.as_str().unwrap()).unwrap();
            rows.push(Row { kind: kind.clone(), form, keeps_text });
        }
    }
    rows
}

#[test]
fn every_form_is_found_in_texts_of_every_kind() {
    let mut dice = Dice(0x2545_f491_4f6c_dd1d);
    let around = [
        ("echo ", " | wc"),
        ("the value is ", ", keep it"),
        ("{\"text\":\"line\\n", "\\nnext\"}"),
        ("curl -H 'X-Thing: ", "' https://a.test"),
        ("(", ")"),
        ("", "\n"),
        ("\u{1b}[31m", "\u{1b}[0m"),
        ("first\n\t", "\nlast"),
    ];
    let rows = rows();
    assert!(rows.len() > 180, "{}", rows.len());
    let mut wrong = Vec::new();
    for Row { kind, form, keeps_text } in rows {
        for (before, after) in around {
            let secret = dice.secret(&form);
            let redacted = redact(&format!("{before}{secret}{after}")).into_owned();
            let kept = if keeps_text { form.text.as_str() } else { "" };
            let expected = format!("{before}{kept}[redacted:{kind}]{after}");
            // A form may be found as part of a wider one, as long as the secret is gone.
            if redacted != expected && (redacted.contains(&secret) || !redacted.contains("[redacted:")) {
                wrong.push((kind.clone(), secret, redacted));
            }
        }
    }
    assert_eq!(wrong, []);
}

#[test]
fn a_text_alone_or_before_plain_words_is_no_secret() {
    let mut changed = Vec::new();
    for Row { form, .. } in rows() {
        let text = &form.text;
        for line in
            [text.clone(), format!("{text} is what they begin with"), format!("grep -rn '{text}' src")]
        {
            if redact(&line) != line {
                changed.push(line);
            }
        }
    }
    assert_eq!(changed, [] as [&str; 0]);
}

#[test]
fn hashes_ids_and_names_stay() {
    let mut dice = Dice(0x9e37_79b9_7f4a_7c15);
    let mut changed = Vec::new();
    let mut check = |line: String| {
        if redact(&line) != line {
            changed.push(line);
        }
    };
    for _ in 0..200 {
        let [short, long, longer] =
            [7, 40, 64].map(|count| dice.bytes(SecretBytes::Hex, count).to_lowercase());
        let uuid: Vec<String> =
            [8, 4, 4, 4, 12].map(|count| dice.bytes(SecretBytes::Hex, count).to_lowercase()).to_vec();
        check(format!("git show {long}"));
        check(format!("git log {short}..{long}"));
        check(format!("image@sha256:{longer}"));
        check(format!("{longer}  target/release/app"));
        check(format!("md5 {}", &longer.get(..32).unwrap()));
        check(format!("GET /v1/items/{} 200", uuid.join("-")));
        check(format!("layer {short}: pulling, etag \"{}\"", longer.get(..32).unwrap()));
        check(format!("integrity sha512-{}", dice.bytes(SecretBytes::Plain, 80)));
        check(format!(
            "at getUserById{}FromDatabase (src/user.service.ts:{})",
            dice.below(9),
            dice.below(900)
        ));
        check(format!(
            "app-{}.js chunk-{}.css",
            dice.bytes(SecretBytes::Plain, 8),
            dice.bytes(SecretBytes::Hex, 8)
        ));
    }
    assert_eq!(changed, [] as [&str; 0]);
}

/// A line with the secret between two parts, and what it is called.
type Hit = (&'static str, &'static str, &'static str, &'static str);

const GIVEN: &[Hit] = &[
    ("echo ", "hunter2", " | sudo -S apt-get update", "password"),
    ("echo '", "hunter 2", "' | sudo -S apt-get update", "password"),
    ("echo -n \"", "hunter2", "\" | sudo -kS -p '' id", "password"),
    ("printf '%s\\n' '", "hunter2", "' | sudo -S id", "password"),
    ("sudo -S id <<< '", "hunter2", "'", "password"),
    ("sudo -S id <<< ", "hunter2", "", "password"),
    ("sudo -S sh <<EOF\n", "hunter2", "\nrm -rf build\nEOF", "password"),
    ("echo 'root:", "hunter2", "' | chpasswd", "password"),
    ("echo root:", "hunter2", " | sudo chpasswd", "password"),
    ("chpasswd <<< 'deploy:", "s3 cret", "'", "password"),
    ("chpasswd <<EOF\ndeploy:", "hunter2", "\nEOF\nls", "password"),
    ("echo ", "hunter2", " | passwd --stdin deploy", "password"),
    ("echo ", "hunter2", " | docker login -u a --password-stdin r.test", "password"),
    ("echo ", "hunter2hunter2", " | gh auth login --with-token", "password"),
    ("echo -n ", "hunter2", " | cryptsetup luksOpen /dev/sda2 root", "password"),
    ("echo ", "hunter2", " | kinit deploy", "password"),
    ("echo ", "hunter2", " | gpg --batch --passphrase-fd 0 -d a.gpg", "password"),
    ("lftp -u deploy,", "hunter2", " ftp.a.test", "password"),
    ("lftp -u 'deploy,", "hunter2", "' ftp.a.test", "password"),
    ("plink -ssh -pw ", "hunter2", " a.test", "password"),
    ("xfreerdp /u:a /p:", "hunter2", " /v:a.test", "password"),
    ("ssh-keygen -t ed25519 -N '", "hunter2", "' -f key", "password"),
    ("unrar x -p", "hunter2", " a.rar", "password"),
    (
        "export MNEMONIC=\"",
        "legal winner thank year wave sausage worth useful legal winner thank yellow",
        "\"",
        "mnemonic",
    ),
    (
        "cast wallet import x --mnemonic \"",
        "letter advice cage absurd amount doctor acoustic avoid letter advice cage above",
        "\"",
        "mnemonic",
    ),
    ("my seed phrase is ", "zoo zoo zoo zoo zoo zoo zoo zoo zoo zoo zoo wrong", "\n", "mnemonic"),
    (
        "{\"mnemonic\":\"",
        "void come effort suffer camp survey warrior heavy shoot primary clutch crush open amazing screen patrol group space",
        "\"}",
        "mnemonic",
    ),
    (
        "https://a.blob.test/c/f?sv=2022-11-02&se=2030&sr=b&sp=r&sig=",
        "abcdefghijklmnopqrstuvwxyz%2Fabcdefghijkl%3D",
        "",
        "signature",
    ),
    ("https://a.test/x?sig=", "QUJDREVGR0hJSktMTU5PUFFSU1RVVg", "&se=1", "signature"),
];

#[test]
fn what_programs_are_given_is_found() {
    let mut wrong = Vec::new();
    for (before, secret, after, kind) in GIVEN {
        let redacted = redact(&format!("{before}{secret}{after}")).into_owned();
        if redacted != format!("{before}[redacted:{kind}]{after}") {
            wrong.push(redacted);
        }
    }
    assert_eq!(wrong, [] as [&str; 0]);
    let discord = ["MTIz", "NDU2Nzg5MDEyMzQ1Njc4", ".Gh4x2Q.", "aB3dE7gH9kaB3dE7gH9kaB3dE7gH"].concat();
    assert_eq!(redact(&format!("bot {discord} ok")), "bot [redacted:discord-token] ok");
}

#[test]
fn what_programs_are_given_and_is_no_secret_stays() {
    let lines = [
        "echo hello | sudo tee /etc/motd",
        "echo y | sudo -S apt-get install jq",
        "echo \"$PASSWORD\" | sudo -S id",
        "cat password.txt | docker login --password-stdin",
        "aws ecr get-login-password | docker login -u AWS --password-stdin r.test",
        "sudo -S id <<< \"$PW\"",
        "echo done; sudo -S id",
        "echo a || sudo -S id",
        "echo a\nls -l | sudo -S id",
        "echo a\\nls -l | sudo -S id",
        "echo hello | docker run -i alpine cat",
        "echo 'feature: gh' | gh issue create -F -",
        "lftp -u deploy ftp.a.test",
        "lftp -u \"$U,$P\" ftp.a.test",
        "seed = 42",
        "rng.seed(12); the seed is one two three",
        "the phrase is all about the words that we use to say what a thing is and why it is so",
        "unrar x a.rar",
        "ssh-keygen -t ed25519 -f key",
        "Mozilla.Firefox.Nightly and Node.js.org are names",
        "https://a.test/page?sig=short&x=1",
        "use of s.toLowerCaseAndTrimIt and b.someMethodNameIsLong",
    ];
    let changed: Vec<_> =
        lines.iter().filter(|line| redact(line) != **line).map(|line| redact(line)).collect();
    assert_eq!(changed, [] as [&str; 0]);
}

#[test]
fn text_that_is_made_to_be_slow_ends() {
    for piece in [
        "sudo -S | ",
        "echo a | sudo -S ",
        "chpasswd <<E\n",
        "su << ",
        "mnemonic aaa ",
        "seed ",
        "sk-",
        ".atlasv1.",
    ] {
        let text = piece.repeat(100_000 / piece.len());
        assert!(redact(&text).len() <= 8 * text.len(), "{piece:?}");
    }
}
