//! Lines of a stream, each bounded, so that no input can use up the memory.

use std::io::{self, BufRead};

/// What was read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Reading {
    /// A line, without its newline.
    Line,
    /// A line longer than the limit, which was skipped.
    TooLong,
    /// Nothing: the stream is at its end.
    End,
}

/// Reads the next line into `line`, which is cleared first.
///
/// `before_waiting` is called when the next bytes may have to be waited for.
pub(crate) fn read_line(
    reader: &mut io::BufReader<impl io::Read>,
    limit: usize,
    line: &mut Vec<u8>,
    mut before_waiting: impl FnMut() -> io::Result<()>,
) -> io::Result<Reading> {
    line.clear();
    let mut seen = 0;
    loop {
        if reader.buffer().is_empty() {
            before_waiting()?;
        }
        let chunk = match reader.fill_buf() {
            Ok(chunk) => chunk,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            Err(error) => return Err(error),
        };
        let newline = chunk.iter().position(|byte| *byte == b'\n');
        let piece = chunk.get(..newline.unwrap_or(chunk.len())).unwrap_or_default();
        let is_end = chunk.is_empty();
        seen += piece.len();
        if seen <= limit {
            line.extend_from_slice(piece);
        } else {
            line.clear();
        }
        let consumed = piece.len() + usize::from(newline.is_some());
        reader.consume(consumed);
        if newline.is_some() || is_end {
            return Ok(match seen {
                0 if is_end => Reading::End,
                length if length > limit => Reading::TooLong,
                _ => Reading::Line,
            });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Reads a text with a limit of four bytes through a buffer of three.
    fn readings(text: &str) -> Vec<(Reading, String)> {
        let mut reader = io::BufReader::with_capacity(3, text.as_bytes());
        let mut line = Vec::new();
        let mut readings = Vec::new();
        loop {
            let reading = read_line(&mut reader, 4, &mut line, || Ok(())).unwrap();
            if reading == Reading::End {
                return readings;
            }
            readings.push((reading, String::from_utf8(line.clone()).unwrap()));
        }
    }

    #[test]
    fn lines_come_whole_and_long_ones_are_skipped() {
        let line = |text: &str| (Reading::Line, text.to_owned());
        let too_long = (Reading::TooLong, String::new());
        assert_eq!(readings(""), []);
        assert_eq!(readings("\n"), [line("")]);
        assert_eq!(readings("ab\ncd"), [line("ab"), line("cd")]);
        assert_eq!(readings("abcd\n\nefgh"), [line("abcd"), line(""), line("efgh")]);
        assert_eq!(readings("abcde\nf\nghijklmnop"), [too_long.clone(), line("f"), too_long]);
    }

    #[test]
    fn waiting_is_announced_before_every_read() {
        let mut reader = io::BufReader::with_capacity(3, "ab\ncd\n".as_bytes());
        let mut line = Vec::new();
        let mut waits = 0;
        let mut read = || {
            read_line(&mut reader, 9, &mut line, || {
                waits += 1;
                Ok(())
            })
            .unwrap()
        };
        assert_eq!([read(), read(), read()], [Reading::Line, Reading::Line, Reading::End]);
        assert_eq!(waits, 3);
    }
}
