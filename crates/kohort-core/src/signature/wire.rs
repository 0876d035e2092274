//! The binary layout of OpenSSH: numbers of four bytes, and strings with their length in front.

/// Appends a number.
pub(super) fn put_number(bytes: &mut Vec<u8>, number: u32) {
    bytes.extend_from_slice(&number.to_be_bytes());
}

/// Appends a string.
pub(super) fn put_string(bytes: &mut Vec<u8>, string: &[u8]) {
    put_number(bytes, string.len() as u32);
    bytes.extend_from_slice(string);
}

/// Bytes that are read from the front.
pub(super) struct Wire<'a>(&'a [u8]);

impl<'a> Wire<'a> {
    pub(super) fn new(bytes: &'a [u8]) -> Wire<'a> {
        Wire(bytes)
    }

    /// Reads these very bytes.
    pub(super) fn expect(&mut self, bytes: &[u8]) -> Option<()> {
        self.0 = self.0.strip_prefix(bytes)?;
        Some(())
    }

    /// Reads a number.
    pub(super) fn number(&mut self) -> Option<u32> {
        let (number, rest) = self.0.split_first_chunk()?;
        self.0 = rest;
        Some(u32::from_be_bytes(*number))
    }

    /// Reads a string.
    pub(super) fn string(&mut self) -> Option<&'a [u8]> {
        let length = self.number()? as usize;
        let (string, rest) = self.0.split_at_checked(length)?;
        self.0 = rest;
        Some(string)
    }

    /// Requires that nothing is left.
    pub(super) fn end(&self) -> Option<()> {
        self.0.is_empty().then_some(())
    }

    /// The bytes that are left.
    pub(super) fn rest(&self) -> &'a [u8] {
        self.0
    }
}
