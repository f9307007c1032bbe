//! The protobuf wire format: keys, varints, lengths.

/// A body that is no protobuf, as one phrase.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Malformed(pub(super) &'static str);

/// One field as it stands on the wire.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Field<'a> {
    /// An integer or truth value.
    Varint(u64),
    /// A number of eight bytes.
    Fixed64(u64),
    /// A number of four bytes.
    Fixed32(u32),
    /// Text, bytes, or a message.
    Bytes(&'a [u8]),
}

/// Reads the fields of one message in order.
pub(super) struct Reader<'a>(&'a [u8]);

impl<'a> Reader<'a> {
    /// A message's bytes.
    pub(super) fn new(bytes: &'a [u8]) -> Self {
        Self(bytes)
    }

    /// The next field and its number; `None` at the end.
    pub(super) fn next(&mut self) -> Result<Option<(u32, Field<'a>)>, Malformed> {
        if self.0.is_empty() {
            return Ok(None);
        }
        let key = self.varint()?;
        let number = u32::try_from(key >> 3).map_err(|_| Malformed("a field number is too large"))?;
        let field = match key & 7 {
            0 => Field::Varint(self.varint()?),
            1 => Field::Fixed64(u64::from_le_bytes(self.array()?)),
            2 => {
                let length = usize::try_from(self.varint()?).map_err(|_| Malformed("a length is too large"))?;
                Field::Bytes(self.take(length)?)
            }
            5 => Field::Fixed32(u32::from_le_bytes(self.array()?)),
            _ => return Err(Malformed("a wire type is unknown")),
        };
        Ok(Some((number, field)))
    }

    /// An integer of seven bits a byte, the lowest first.
    pub(super) fn varint(&mut self) -> Result<u64, Malformed> {
        let mut value = 0u64;
        for shift in (0..64).step_by(7) {
            let byte = self.take(1)?[0];
            value |= u64::from(byte & 0x7f) << shift;
            if byte < 0x80 {
                return Ok(value);
            }
        }
        Err(Malformed("an integer does not end"))
    }

    /// Whether nothing is left.
    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    fn array<const N: usize>(&mut self) -> Result<[u8; N], Malformed> {
        self.take(N)?.try_into().map_err(|_| Malformed("it is cut off"))
    }

    fn take(&mut self, count: usize) -> Result<&'a [u8], Malformed> {
        let (taken, rest) = self.0.split_at_checked(count).ok_or(Malformed("it is cut off"))?;
        self.0 = rest;
        Ok(taken)
    }
}
