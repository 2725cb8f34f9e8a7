//! Standard input read whole, within a limit, so that no input can use up the memory.

use std::io::Read;

/// The longest input that is read, in bytes.
const LONGEST: u64 = 16 << 20;

/// Why standard input is not used.
#[derive(Debug)]
pub enum InputError {
    /// It could not be read.
    Unreadable(std::io::Error),
    /// It is longer than the limit.
    TooLong,
}

impl std::fmt::Display for InputError {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Unreadable(error) => write!(formatter, "standard input could not be read: {error}"),
            Self::TooLong => write!(formatter, "standard input is longer than {} MiB", LONGEST >> 20),
        }
    }
}

/// Reads standard input to its end.
pub fn read_whole() -> Result<Vec<u8>, InputError> {
    let mut bytes = Vec::new();
    let read = std::io::stdin().lock().take(LONGEST + 1).read_to_end(&mut bytes);
    let length = read.map_err(InputError::Unreadable)?;
    if u64::try_from(length).is_ok_and(|length| length <= LONGEST) {
        Ok(bytes)
    } else {
        Err(InputError::TooLong)
    }
}
