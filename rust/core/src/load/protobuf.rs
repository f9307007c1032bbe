//! As much of protobuf's encoding as it takes to find one field of a message that may be cut off.
//!
//! Source: Protocol Buffers, "Encoding"; Kubernetes API concepts, "Kubernetes Protobuf encoding" for the envelope.

/// What Kubernetes' envelope begins with.
const MAGIC: &[u8] = b"k8s\0";

/// A field of bytes; `whole`: it is not cut off.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Field<'a> {
    pub(super) bytes: &'a [u8],
    pub(super) whole: bool,
}

fn varint(bytes: &mut &[u8]) -> Option<u64> {
    let mut value = 0u64;
    for shift in (0..64).step_by(7) {
        let (first, rest) = bytes.split_first()?;
        *bytes = rest;
        value |= u64::from(first & 0x7f) << shift;
        if first & 0x80 == 0 {
            return Some(value);
        }
    }
    None
}

/// The first field of that number that holds bytes.
pub(super) fn field(mut message: &[u8], number: u64) -> Option<Field<'_>> {
    loop {
        let tag = varint(&mut message)?;
        let length = match tag & 7 {
            0 => {
                varint(&mut message)?;
                continue;
            }
            1 => 8,
            2 => usize::try_from(varint(&mut message)?).ok()?,
            5 => 4,
            _ => return None,
        };
        let (bytes, whole) = (&message[..length.min(message.len())], length <= message.len());
        if tag >> 3 == number && tag & 7 == 2 {
            return Some(Field { bytes, whole });
        }
        message = message.get(length..)?;
    }
}

/// The object in the envelope (`runtime.Unknown`, field 2); `None` where it is none.
pub(super) fn enveloped(bytes: &[u8]) -> Option<&[u8]> {
    Some(field(bytes.strip_prefix(MAGIC)?, 2)?.bytes)
}

/// A field that is text, and whole.
pub(super) fn text(message: &[u8], number: u64) -> Option<&str> {
    let found = field(message, number).filter(|found| found.whole)?;
    std::str::from_utf8(found.bytes).ok().filter(|text| !text.is_empty())
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use proptest::prelude::*;

    /// A field of up to 127 bytes.
    pub(in crate::load) fn put(number: u8, bytes: &[u8]) -> Vec<u8> {
        [&[number << 3 | 2, u8::try_from(bytes.len()).unwrap()], bytes].concat()
    }

    #[test]
    fn a_field_is_found_behind_others_and_said_to_be_cut_off() {
        let message = [&[0x08, 0x96, 0x01][..], &put(2, b"ab"), &put(3, b"cde")].concat();
        assert_eq!(text(&message, 3), Some("cde"));
        assert_eq!(field(&message[..message.len() - 1], 3), Some(Field { bytes: b"cd", whole: false }));
        assert_eq!((text(&message[..message.len() - 1], 3), field(&message, 4)), (None, None));
    }

    proptest! {
        #[test]
        fn any_bytes_are_survived(bytes in proptest::collection::vec(any::<u8>(), 0..60), number in 0..9u64) {
            field(&bytes, number);
        }
    }
}
