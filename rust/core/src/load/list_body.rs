//! What a LIST's body says of its place: the version that a watch goes on from, and the token of the next page.
//!
//! Built-in resources have their metadata before the items; lists of custom resources, whose keys API servers sort,
//! have it at the end (apiVersion, items, kind, metadata). Only the two ends of a body are kept.

use super::protobuf;
use super::watch_stream::json_string;
use serde_json::Value;

/// Bytes that are kept of each end.
const END: usize = 4_096;

/// A body as it comes.
#[derive(Clone, Debug, Default)]
pub struct ListBody {
    head: Vec<u8>,
    tail: Vec<u8>,
}

/// Where a list stands.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ListPosition {
    /// Its resourceVersion.
    pub version: Option<String>,
    /// The token of the next page; `None` on the last one.
    pub next: Option<String>,
}

impl ListBody {
    /// Takes a chunk.
    pub fn feed(&mut self, chunk: &[u8]) {
        let room = END - self.head.len();
        self.head.extend_from_slice(&chunk[..chunk.len().min(room)]);
        self.tail.extend_from_slice(&chunk[chunk.len().saturating_sub(END)..]);
        if self.tail.len() > 2 * END {
            self.tail.drain(..self.tail.len() - END);
        }
    }

    /// What it says, now that it is whole.
    pub fn position(&self) -> ListPosition {
        if let Some(list) = protobuf::enveloped(&self.head) {
            let meta = protobuf::field(list, 1).map_or(&[][..], |meta| meta.bytes);
            let said = |number| protobuf::text(meta, number).map(str::to_owned);
            return ListPosition { version: said(2), next: said(3) };
        }
        let items = memchr::memmem::find(&self.head, b"\"items\"").unwrap_or(self.head.len());
        let said = |key| json_string(&self.head[..items], key).filter(|value| !value.is_empty());
        match said("resourceVersion") {
            Some(version) => ListPosition { version: Some(version), next: said("continue") },
            None => self.at_the_end().unwrap_or_default(),
        }
    }

    /// The metadata that nothing follows but the end of the list.
    fn at_the_end(&self) -> Option<ListPosition> {
        let metadata = &self.tail[memchr::memmem::rfind(&self.tail, b"\"metadata\"")?..];
        let metadata = &metadata[memchr::memchr(b'{', metadata)?..];
        let mut values = serde_json::Deserializer::from_slice(metadata).into_iter::<Value>();
        let value = values.next()?.ok()?;
        let rest = metadata[values.byte_offset()..].trim_ascii();
        let said = |key: &str| value[key].as_str().filter(|text| !text.is_empty()).map(str::to_owned);
        (rest == b"}").then(|| ListPosition { version: said("resourceVersion"), next: said("continue") })
    }
}

#[cfg(test)]
mod tests {
    use super::super::protobuf::tests::put;
    use super::*;
    use proptest::prelude::*;

    fn position(body: &[u8]) -> (Option<String>, Option<String>) {
        let mut list = ListBody::default();
        list.feed(body);
        let ListPosition { version, next } = list.position();
        (version, next)
    }

    fn found(version: &str, next: Option<&str>) -> (Option<String>, Option<String>) {
        (Some(version.to_owned()), next.map(str::to_owned))
    }

    fn items(count: usize) -> String {
        let item = "{\"metadata\":{\"name\":\"a\",\"resourceVersion\":\"7\"},\"spec\":{\"items\":[]}}";
        vec![item; count].join(",")
    }

    #[test]
    fn a_list_says_where_it_stands_before_its_items_or_behind_them() {
        for count in [0, 1, 500] {
            let items = items(count);
            let built_in = format!(
                "{{\"kind\":\"PodList\",\"metadata\":{{\"resourceVersion\":\"55\",\"continue\":\"\"}},\"items\":[{items}]}}\n"
            );
            assert_eq!(position(built_in.as_bytes()), found("55", None));
            let custom = format!(
                "{{\"apiVersion\":\"x.io/v1\",\"items\":[{items}],\"kind\":\"XList\",\
                 \"metadata\":{{\"continue\":\"abc\",\"resourceVersion\":\"56\"}}}}\n"
            );
            assert_eq!(position(custom.as_bytes()), found("56", Some("abc")));
            let neither = format!("{{\"items\":[{items}]}}");
            assert_eq!(position(neither.as_bytes()), (None, None));
        }
    }

    #[test]
    fn a_list_in_protobuf_says_it_in_its_first_field() {
        let meta = [put(1, b""), put(2, b"57"), put(3, b"xyz")].concat();
        let list = [put(1, &meta), put(2, b"an item")].concat();
        let body = [b"k8s\0", put(1, b"kind").as_slice(), &put(2, &list)].concat();
        assert_eq!(position(&body), found("57", Some("xyz")));
    }

    proptest! {
        #[test]
        fn chunks_make_no_difference(cuts in proptest::collection::vec(0..20_000usize, 0..20), count in 0..300usize) {
            let body = format!("{{\"items\":[{}],\"metadata\":{{\"resourceVersion\":\"8\"}}}}", items(count));
            let mut cuts: Vec<usize> = cuts.into_iter().map(|cut| cut.min(body.len())).collect();
            cuts.extend([0, body.len()]);
            cuts.sort_unstable();
            let mut list = ListBody::default();
            for cut in cuts.windows(2) {
                list.feed(&body.as_bytes()[cut[0]..cut[1]]);
            }
            prop_assert_eq!(list.position().version, Some("8".to_owned()));
        }
    }
}
