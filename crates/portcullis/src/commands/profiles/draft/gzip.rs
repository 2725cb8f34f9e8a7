//! Manual pages are often packed.

use miniz_oxide::inflate::decompress_to_vec_with_limit;

/// The largest page or completion file that is read, unpacked.
pub(super) const SIZE_LIMIT: usize = 4 * 1024 * 1024;

/// What a packed file begins with.
pub(super) const MAGIC: [u8; 2] = [0x1f, 0x8b];

/// Bytes before the optional parts of the header.
const FIXED: usize = 10;

const HAS_EXTRA: u8 = 4;
const HAS_NAME: u8 = 8;
const HAS_COMMENT: u8 = 16;
const HAS_CHECKSUM: u8 = 2;

/// Unpacks a file of one member, as far as a limit.
pub(super) fn unpack(bytes: &[u8], limit: usize) -> Result<Vec<u8>, String> {
    let packed = body(bytes).ok_or("the packed file is cut off")?;
    decompress_to_vec_with_limit(packed, limit).map_err(|_| "the packed file cannot be read".to_owned())
}

/// Returns what follows the header.
fn body(bytes: &[u8]) -> Option<&[u8]> {
    let flags = *bytes.get(3)?;
    let mut rest = bytes.get(FIXED..)?;
    if flags & HAS_EXTRA != 0 {
        let length = u16::from_le_bytes([*rest.first()?, *rest.get(1)?]);
        rest = rest.get(2 + usize::from(length)..)?;
    }
    for flag in [HAS_NAME, HAS_COMMENT] {
        if flags & flag != 0 {
            let end = rest.iter().position(|byte| *byte == 0)?;
            rest = rest.get(end + 1..)?;
        }
    }
    if flags & HAS_CHECKSUM != 0 {
        rest = rest.get(2..)?;
    }
    Some(rest)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn packed_text_is_unpacked_and_anything_else_refused() {
        let packed = miniz_oxide::deflate::compress_to_vec(b".TH ACME 1", 6);
        let mut file = vec![0x1f, 0x8b, 8, HAS_NAME, 0, 0, 0, 0, 0, 3];
        file.extend(b"acme.1\0");
        file.extend(&packed);
        file.extend([0; 8]);
        assert_eq!(unpack(&file, 100).unwrap(), b".TH ACME 1");
        assert!(unpack(&file, 5).is_err());
        for length in 0..17 {
            assert!(unpack(&file[..length], 100).is_err(), "{length}");
        }
    }
}
