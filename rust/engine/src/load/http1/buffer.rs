//! What was read from a connection and not used yet.

/// Its first size, and the one beyond which it grows for a head alone.
const FIRST: usize = 8 * 1024;
const LARGE: usize = 64 * 1024;

/// Bytes from `from` to `to` are there; those behind are room.
#[derive(Default)]
pub(super) struct Buffer {
    space: Vec<u8>,
    from: usize,
    to: usize,
}

impl Buffer {
    pub(super) fn bytes(&self) -> &[u8] {
        &self.space[self.from..self.to]
    }

    pub(super) fn is_empty(&self) -> bool {
        self.from == self.to
    }

    /// The first so many bytes are not needed any more.
    pub(super) fn consume(&mut self, count: usize) {
        self.from += count.min(self.to - self.from);
    }

    /// Room to read into, never empty: made by moving what is there, or by growing.
    pub(super) fn room(&mut self) -> &mut [u8] {
        if self.is_empty() {
            // It was read full: there may be as much to come again.
            let grown = self.to == self.space.len() && self.space.len() < LARGE;
            (self.from, self.to) = (0, 0);
            if grown {
                self.grow();
            }
        } else if self.to == self.space.len() {
            if self.from > 0 {
                self.space.copy_within(self.from..self.to, 0);
                (self.from, self.to) = (0, self.to - self.from);
            } else {
                self.grow();
            }
        }
        &mut self.space[self.to..]
    }

    /// So many bytes were read into the room.
    pub(super) fn filled(&mut self, count: usize) {
        self.to += count;
    }

    fn grow(&mut self) {
        self.space.resize((2 * self.space.len()).max(FIRST), 0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(buffer: &mut Buffer, text: &[u8]) {
        buffer.room()[..text.len()].copy_from_slice(text);
        buffer.filled(text.len());
    }

    #[test]
    fn what_is_left_is_kept_while_room_is_made() {
        let mut buffer = Buffer::default();
        read(&mut buffer, b"head and body");
        buffer.consume(5);
        assert_eq!(buffer.bytes(), b"and body");
        let full = buffer.room().len();
        buffer.filled(full);
        let before = buffer.bytes().to_vec();
        assert!(!buffer.room().is_empty());
        assert_eq!(buffer.bytes(), before);
        let full = buffer.room().len();
        buffer.filled(full);
        assert!(!buffer.room().is_empty());
        assert!(buffer.bytes().starts_with(b"and body"));
    }

    #[test]
    fn it_grows_while_it_is_read_full_up_to_a_size() {
        let mut buffer = Buffer::default();
        let mut most = 0;
        for _ in 0..20 {
            let room = buffer.room().len();
            most = most.max(room);
            buffer.filled(room);
            buffer.consume(room);
        }
        assert_eq!(most, LARGE);
    }
}
