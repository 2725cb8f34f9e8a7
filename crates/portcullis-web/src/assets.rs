//! The files that pages need, and how long a browser may keep them.

/// A file that pages need.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Asset {
    /// Its name below `/assets/`.
    pub name: &'static str,
    /// Its media type.
    pub media_type: &'static str,
    /// What is in it.
    pub bytes: &'static [u8],
    /// A number of its content: another content has another address, so that a browser may keep a file for ever.
    pub version: u64,
}

macro_rules! asset {
    ($name:literal, $media_type:literal) => {{
        const BYTES: &[u8] = include_bytes!(concat!("../assets/", $name));
        Asset { name: $name, media_type: $media_type, bytes: BYTES, version: hash(BYTES) }
    }};
}

/// The style sheet.
pub const STYLE: Asset = asset!("style.css", "text/css; charset=utf-8");
/// The script.
pub const SCRIPT: Asset = asset!("app.js", "text/javascript; charset=utf-8");
/// The icon.
pub const ICON: Asset = asset!("icon.svg", "image/svg+xml");

/// All of them.
pub const ALL: [Asset; 3] = [STYLE, SCRIPT, ICON];

/// Finds a file by its name.
pub fn find(name: &str) -> Option<Asset> {
    ALL.into_iter().find(|asset| asset.name == name)
}

impl Asset {
    /// Returns the number of its content as it stands in addresses.
    pub fn tag(&self) -> String {
        format!("{:016x}", self.version)
    }

    /// Returns its address.
    pub fn address(&self) -> String {
        format!("/assets/{}?v={}", self.name, self.tag())
    }
}

/// The hash of Fowler, Noll and Vo: it tells one release from another, and guards against nobody.
const fn hash(bytes: &[u8]) -> u64 {
    let mut hash: u64 = 0xcbf2_9ce4_8422_2325;
    let mut rest = bytes;
    while let [byte, others @ ..] = rest {
        hash = (hash ^ *byte as u64).wrapping_mul(0x0100_0000_01b3);
        rest = others;
    }
    hash
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_file_has_a_version_of_its_own() {
        assert_ne!(STYLE.version, SCRIPT.version);
        assert_eq!(hash(b""), 0xcbf2_9ce4_8422_2325);
        assert_eq!(hash(b"a"), 0xaf63_dc4c_8601_ec8c);
        assert_eq!(find("style.css"), Some(STYLE));
        assert_eq!(find("../style.css"), None);
        assert!(STYLE.address().starts_with("/assets/style.css?v="));
    }

    #[test]
    fn no_file_names_another_host() {
        for asset in ALL {
            let text = String::from_utf8(asset.bytes.to_vec()).unwrap();
            let text = text.replace("http://www.w3.org/2000/svg", "");
            for sign in ["http://", "https://", "url(//", "\"//", "'//", "@import"] {
                assert!(!text.contains(sign), "{}: {sign}", asset.name);
            }
        }
    }

    #[test]
    fn the_script_makes_no_markup_of_data() {
        let text = String::from_utf8(SCRIPT.bytes.to_vec()).unwrap();
        for word in
            ["innerHTML", "outerHTML", "insertAdjacentHTML", "document.write", "eval(", "new Function"]
        {
            assert!(!text.contains(word), "{word}");
        }
    }
}
