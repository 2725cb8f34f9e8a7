//! `convert` and its kin: pictures are read and one is written, as long as every word is one that is known to do no more.
//!
//! Names with a scheme, a leading `@` or `|`, and most options make them read, run or remove other things.

use super::CommandContext;
use super::certain;
use crate::act::Act;
use crate::argument::Argument;
use crate::profile::{Match, Use};

/// Endings of pictures that hold no commands.
const PICTURES: &[&str] = &[
    ".avif", ".bmp", ".gif", ".heic", ".icns", ".ico", ".jpeg", ".jpg", ".pgm", ".png", ".pnm", ".ppm",
    ".tga", ".tif", ".tiff", ".webp",
];

/// Options that only change the picture, with how many words of theirs follow.
const CHANGES: &[(&str, usize)] = &[
    ("-alpha", 1),
    ("-append", 0),
    ("+append", 0),
    ("-auto-orient", 0),
    ("-background", 1),
    ("-blur", 1),
    ("-border", 1),
    ("-bordercolor", 1),
    ("-coalesce", 0),
    ("-colors", 1),
    ("-colorspace", 1),
    ("-crop", 1),
    ("-delay", 1),
    ("-density", 1),
    ("-depth", 1),
    ("-extent", 1),
    ("-filter", 1),
    ("-flatten", 0),
    ("-flip", 0),
    ("-flop", 0),
    ("-fuzz", 1),
    ("-gamma", 1),
    ("-geometry", 1),
    ("-gravity", 1),
    ("-interlace", 1),
    ("-highlight-color", 1),
    ("-layers", 1),
    ("-level", 1),
    ("-loop", 1),
    ("-lowlight-color", 1),
    ("-metric", 1),
    ("-modulate", 1),
    ("-monochrome", 0),
    ("-negate", 0),
    ("-normalize", 0),
    ("-quality", 1),
    ("-repage", 0),
    ("+repage", 0),
    ("-resize", 1),
    ("-rotate", 1),
    ("-sample", 1),
    ("-scale", 1),
    ("-sharpen", 1),
    ("-strip", 0),
    ("-thumbnail", 1),
    ("-threshold", 1),
    ("-tile", 1),
    ("-transparent", 1),
    ("-trim", 0),
    ("-type", 1),
    ("-units", 1),
    ("-unsharp", 1),
];

/// Tools that `magick` goes by when their name is its first word.
const TOOLS: &[&str] = &["compare", "composite", "convert", "mogrify", "montage"];

/// Reads the words; one that is not known makes all of it unknown.
pub(super) fn read(context: &CommandContext<'_>, found: &Match<'_>) -> Vec<Use> {
    let words = context.invocation.operands();
    // `magick mogrify` is mogrify.
    let tool = words.first().and_then(Argument::fixed).filter(|word| TOOLS.contains(word));
    let words = words.get(usize::from(tool.is_some())..).unwrap_or_default();
    let is_in_place = tool.or(context.invocation.program_name()) == Some("mogrify");
    pictures(words, is_in_place).unwrap_or_else(|| found.uses.clone())
}

fn pictures(words: &[Argument], is_in_place: bool) -> Option<Vec<Use>> {
    let mut words = words.iter();
    let mut files: Vec<&Argument> = Vec::new();
    let mut is_dropped = false;
    while let Some(word) = words.next() {
        if let Some((_, values)) = CHANGES.iter().find(|(option, _)| word.fixed() == Some(*option)) {
            for value in words.by_ref().take(*values) {
                value.fixed().filter(|text| !text.contains(['@', ':', '/', '|']))?;
            }
        } else if word.fixed() == Some("null:") && !is_dropped {
            is_dropped = true;
        } else if is_picture(word) && !is_dropped {
            files.push(word);
        } else {
            return None;
        }
    }
    if is_in_place {
        let is_plain = !files.is_empty() && !is_dropped;
        return is_plain.then(|| files.iter().map(|word| certain(Act::Write, word)).collect());
    }
    if is_dropped {
        return (!files.is_empty()).then(|| files.iter().map(|word| certain(Act::Read, word)).collect());
    }
    let (made, read) = files.split_last()?;
    let mut uses: Vec<Use> = read.iter().map(|word| certain(Act::Read, word)).collect();
    uses.push(certain(Act::Write, made));
    (!read.is_empty()).then_some(uses)
}

/// Says whether a word is the name of a picture, however it begins.
fn is_picture(word: &Argument) -> bool {
    let text = word.text.trim_matches(['"', '\'']);
    let lower = text.to_ascii_lowercase();
    let is_known =
        word.is_known() || word.knowledge == crate::argument::Knowledge::Glob || word.shape().is_some();
    let is_named = PICTURES.iter().any(|ending| lower.ends_with(ending)) || is_found(word);
    is_known && is_named && !text.starts_with(['-', '@', '|', '+']) && !text.contains([':', '|', '`', '('])
}

/// Says whether a word stands for names that a pattern of pictures found.
fn is_found(word: &Argument) -> bool {
    word.shape().is_some_and(|shape| PICTURES.iter().any(|ending| shape.ends_with(ending)))
}

#[cfg(test)]
mod tests {
    use crate::reader::testing::effects;

    #[test]
    fn plain_conversions_read_and_write() {
        assert_eq!(effects("convert a.png -resize 50% b.jpg"), ["read a.png", "write b.jpg"]);
        assert_eq!(
            effects("magick in.tiff -strip -quality 80 out/x.webp"),
            ["read in.tiff", "write out/x.webp"]
        );
        assert_eq!(effects("compare -metric PSNR a.png b.png null:"), ["read a.png", "read b.png"]);
        assert_eq!(effects("mogrify -resize 320x a.png"), ["write a.png"]);
        assert_eq!(effects("magick mogrify -strip a.png b.png"), ["write a.png", "write b.png"]);
    }

    #[test]
    fn anything_else_is_unknown() {
        for line in [
            "convert msl:script.png b.png",
            "convert @list.png b.png",
            "convert a.png -write /etc/x.png b.png",
            "convert a.svg b.png",
            "convert a.png -fill @/etc/passwd b.png",
            "convert a.png '|sh.png'",
            "convert https://example.com/a.png b.png",
            "convert a.png",
            "convert a.png $OUT",
            "convert null: a.png",
            "mogrify -path /etc a.png",
            "mogrify -format msl a.png",
        ] {
            assert!(effects(line).iter().any(|effect| effect.starts_with("unknown")), "{line}");
        }
    }
}
