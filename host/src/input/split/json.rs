//! Finds the end of one JSON value.

/// JSON nested deeper than this is refused: far more than any API object, and little enough for
/// readers that recurse.
pub(super) const MAX_JSON_DEPTH: usize = 1_000;

/// Follows the brackets and strings of one JSON value.
#[derive(Default)]
pub(super) struct JsonScan {
    /// Open brackets; true for an object.
    open: Vec<bool>,
    in_string: bool,
    escaped: bool,
    /// The last byte that is not white space.
    last: u8,
    /// The last byte.
    previous: u8,
}

pub(super) enum Progress {
    More,
    Complete,
    Broken,
}

impl JsonScan {
    /// Goes on from `at`, which ends behind the last byte used.
    pub(super) fn scan(&mut self, buffer: &[u8], at: &mut usize) -> Progress {
        for byte in &buffer[*at..] {
            let byte = *byte;
            *at += 1;
            if self.in_string {
                match byte {
                    _ if self.escaped => self.escaped = false,
                    b'\\' => self.escaped = true,
                    b'"' => self.in_string = false,
                    // A line was cut off within a string.
                    b'\n' => return Progress::Broken,
                    _ => continue,
                }
                self.last = byte;
                continue;
            }
            match byte {
                b'"' => self.in_string = true,
                b'{' | b'[' => {
                    let cut_off = self.previous == b'\n' && !b"[,:".contains(&self.last);
                    if (cut_off && !self.open.is_empty()) || self.open.len() == MAX_JSON_DEPTH {
                        return Progress::Broken;
                    }
                    self.open.push(byte == b'{');
                }
                b'}' | b']' => {
                    if self.open.pop() != Some(byte == b'}') {
                        return Progress::Broken;
                    }
                    if self.open.is_empty() {
                        return Progress::Complete;
                    }
                }
                _ => {}
            }
            self.previous = byte;
            if !byte.is_ascii_whitespace() {
                self.last = byte;
            }
        }
        Progress::More
    }
}
