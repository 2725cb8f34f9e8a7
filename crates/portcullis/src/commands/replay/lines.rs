//! The lines of a session file, each bounded, and whose file it is.

use std::fs::{self, File};
use std::io::{self, BufRead as _, BufReader, Read as _, Seek as _, SeekFrom};
use std::path::Path;

use portcullis_classifier::transcript::{TranscriptFormat, tell};

/// The longest line that is read, in bytes; also the longest file of the form that is one document.
pub(super) const LONGEST_LINE: usize = 8 << 20;
/// How many lines are looked at to find out whose file it is.
const PROBED_LINES: usize = 64;
/// How many bytes of a file are looked at for that.
const PROBED_BYTES: u64 = 1 << 20;
const BUFFER: usize = 256 << 10;

/// Whose session a file is, and in which form.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Form {
    /// One record a line.
    Lines(TranscriptFormat),
    /// One document, as older versions of Gemini CLI write it.
    Document,
}

/// A session file that is read from its beginning.
pub(super) struct Lines {
    reader: BufReader<File>,
    /// The number of the line that was read last.
    pub(super) number: usize,
}

/// What was read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Reading {
    /// A line, or the whole document.
    Line,
    /// A line that is too long, which was skipped.
    TooLong,
    /// Nothing more.
    End,
}

/// Opens a file and finds out whose session it is; `None` if it is nobody's.
pub(super) fn open(path: &Path) -> io::Result<Option<(Lines, Form)>> {
    // It may have become a pipe since it was found, and that would be waited for.
    if !fs::metadata(path)?.is_file() {
        return Err(io::Error::new(io::ErrorKind::InvalidInput, "it is not a regular file"));
    }
    let mut reader = BufReader::with_capacity(BUFFER, File::open(path)?);
    let form = probe(&mut reader)?;
    reader.seek(SeekFrom::Start(0))?;
    Ok(form.map(|form| (Lines { reader, number: 0 }, form)))
}

fn probe(reader: &mut BufReader<File>) -> io::Result<Option<Form>> {
    let mut head = reader.by_ref().take(PROBED_BYTES);
    let mut line = Vec::new();
    let mut is_open = false;
    for number in 0..PROBED_LINES {
        line.clear();
        if head.read_until(b'\n', &mut line)? == 0 {
            break;
        }
        let text = trimmed(&line);
        if let Some(format) = tell(text) {
            return Ok(Some(Form::Lines(format)));
        }
        is_open |= number == 0 && text == b"{";
    }
    Ok(is_open.then_some(Form::Document))
}

/// Returns a line without the white space around it and the mark that some editors put before the first one.
pub(super) fn trimmed(line: &[u8]) -> &[u8] {
    line.strip_prefix(b"\xef\xbb\xbf").unwrap_or(line).trim_ascii()
}

impl Lines {
    /// Reads the next line into `line`, which is cleared first.
    pub(super) fn next(&mut self, line: &mut Vec<u8>) -> io::Result<Reading> {
        line.clear();
        self.number += 1;
        let limit = LONGEST_LINE as u64 + 1;
        if self.reader.by_ref().take(limit).read_until(b'\n', line)? == 0 {
            return Ok(Reading::End);
        }
        if line.len() > LONGEST_LINE && line.last() != Some(&b'\n') {
            line.clear();
            self.reader.skip_until(b'\n')?;
            return Ok(Reading::TooLong);
        }
        Ok(Reading::Line)
    }

    /// Reads the whole file into `text`, which is cleared first.
    pub(super) fn whole(&mut self, text: &mut Vec<u8>) -> io::Result<Reading> {
        text.clear();
        self.number = 1;
        self.reader.by_ref().take(LONGEST_LINE as u64 + 1).read_to_end(text)?;
        if text.len() > LONGEST_LINE {
            text.clear();
            return Ok(Reading::TooLong);
        }
        Ok(Reading::Line)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file(bytes: &[u8]) -> tempfile::NamedTempFile {
        let file = tempfile::NamedTempFile::new().unwrap();
        fs::write(file.path(), bytes).unwrap();
        file
    }

    #[test]
    fn a_line_that_is_too_long_is_skipped_and_the_next_one_is_whole() {
        let mut text = b"{\"user\":\"a\"}\n".to_vec();
        text.extend(vec![b'x'; LONGEST_LINE + 5]);
        text.extend(b"\nlast");
        let file = file(&text);
        let (mut lines, form) = open(file.path()).unwrap().unwrap();
        assert_eq!(form, Form::Lines(TranscriptFormat::Plain));
        let mut line = Vec::new();
        assert_eq!(
            (lines.next(&mut line).unwrap(), trimmed(&line)),
            (Reading::Line, b"{\"user\":\"a\"}".as_slice())
        );
        assert_eq!(lines.next(&mut line).unwrap(), Reading::TooLong);
        assert_eq!((lines.next(&mut line).unwrap(), line.as_slice()), (Reading::Line, b"last".as_slice()));
        assert_eq!((lines.next(&mut line).unwrap(), lines.number), (Reading::End, 4));
    }

    #[test]
    fn a_file_is_told_by_what_is_in_it() {
        let table: [(&[u8], Option<Form>); 6] = [
            (b"", None),
            (b"\0\0\0", None),
            (b"hello\nworld\n", None),
            (b"{\"name\":\"x\"}\n", None),
            (b"\xef\xbb\xbf{\"type\":\"user\",\"uuid\":\"a\"}", Some(Form::Lines(TranscriptFormat::Claude))),
            (b"{\n  \"messages\": []\n}\n", Some(Form::Document)),
        ];
        for (bytes, expected) in table {
            let form = open(file(bytes).path()).unwrap().map(|(_, form)| form);
            assert_eq!(form, expected, "{bytes:?}");
        }
        assert!(open(Path::new("/dev/zero")).is_err());
    }
}
