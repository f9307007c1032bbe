//! Which representation a request's `Accept` header asks for, of those this server has.

use super::status::Status;
use super::table::MetaVersion;

/// What to answer with. All of it is JSON.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Representation {
    /// The object or list as it is stored.
    Plain,
    /// A Table.
    Table(MetaVersion),
    /// `PartialObjectMetadata`.
    Partial(MetaVersion),
    /// `PartialObjectMetadataList`.
    PartialList(MetaVersion),
    /// Aggregated discovery.
    Discovery(DiscoveryVersion),
}

/// Version of apidiscovery.k8s.io.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DiscoveryVersion {
    /// `v2`.
    V2,
    /// `v2beta1`.
    V2beta1,
}

impl DiscoveryVersion {
    /// `v2`.
    pub fn version(self) -> &'static str {
        match self {
            Self::V2 => "v2",
            Self::V2beta1 => "v2beta1",
        }
    }
}

/// What an endpoint can answer with besides plain JSON.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Offer {
    /// Nothing.
    Plain,
    /// Table and `PartialObjectMetadata`: objects, lists and watches.
    Objects,
    /// Aggregated discovery: `/api` and `/apis`.
    Discovery,
}

impl Representation {
    /// Value of the `Content-Type` header.
    pub fn content_type(self) -> &'static str {
        match self {
            Self::Plain | Self::Table(_) | Self::Partial(_) | Self::PartialList(_) => "application/json",
            Self::Discovery(DiscoveryVersion::V2) => {
                "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList"
            }
            Self::Discovery(DiscoveryVersion::V2beta1) => {
                "application/json;g=apidiscovery.k8s.io;v=v2beta1;as=APIGroupDiscoveryList"
            }
        }
    }
}

/// The best representation of those the client accepts and the endpoint offers. Protobuf and YAML are
/// never chosen: where a client accepts nothing else, that is a 406.
pub fn negotiate(accept: Option<&str>, offer: Offer) -> Result<Representation, Status> {
    let Some(accept) = accept.filter(|a| !a.trim().is_empty()) else { return Ok(Representation::Plain) };
    let mut best: Option<(u32, Representation)> = None;
    for clause in accept.split(',') {
        let Some((quality, representation)) = read_clause(clause, offer) else { continue };
        if quality > 0 && best.is_none_or(|(other, _)| quality > other) {
            best = Some((quality, representation));
        }
    }
    best.map(|(_, representation)| representation).ok_or_else(Status::not_acceptable)
}

/// Quality in thousandths and what the clause asks for; `None` where this server has no such thing.
fn read_clause(clause: &str, offer: Offer) -> Option<(u32, Representation)> {
    let mut parts = clause.split(';').map(str::trim);
    if !matches!(parts.next()?, "application/json" | "*/*") {
        return None;
    }
    let (mut kind, mut group, mut version, mut quality) = ("", "", "", 1_000);
    for part in parts {
        let (name, value) = part.split_once('=').unwrap_or((part, ""));
        match name.trim() {
            "as" => kind = value.trim(),
            "g" => group = value.trim(),
            "v" => version = value.trim(),
            "q" => quality = thousandths(value.trim()),
            _ => {}
        }
    }
    let meta = || match (group, version) {
        ("meta.k8s.io", "v1") => Some(MetaVersion::V1),
        ("meta.k8s.io", "v1beta1") => Some(MetaVersion::V1beta1),
        _ => None,
    };
    let representation = match (kind, offer) {
        ("", _) => Representation::Plain,
        ("Table", Offer::Objects) => Representation::Table(meta()?),
        ("PartialObjectMetadata", Offer::Objects) => Representation::Partial(meta()?),
        ("PartialObjectMetadataList", Offer::Objects) => Representation::PartialList(meta()?),
        ("APIGroupDiscoveryList", Offer::Discovery) if group == "apidiscovery.k8s.io" => {
            Representation::Discovery(match version {
                "v2" => DiscoveryVersion::V2,
                "v2beta1" => DiscoveryVersion::V2beta1,
                _ => return None,
            })
        }
        _ => return None,
    };
    Some((quality, representation))
}

/// A quality of 0 … 1 with at most three decimals; what is no number counts as 1, as the real server does.
fn thousandths(text: &str) -> u32 {
    let (whole, fraction) = text.split_once('.').unwrap_or((text, ""));
    if !text.bytes().all(|b| b.is_ascii_digit() || b == b'.') || text.is_empty() {
        return 1_000;
    }
    let digits: String = fraction.chars().chain("000".chars()).take(3).collect();
    let fraction = digits.parse().unwrap_or(0);
    if whole.trim_start_matches('0').is_empty() { fraction } else { 1_000 }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn objects(accept: &str) -> Result<Representation, u16> {
        negotiate(Some(accept), Offer::Objects).map_err(|status| status.code)
    }

    #[test]
    fn what_real_clients_send_is_answered_as_they_expect() {
        let kubectl = "application/json;as=Table;v=v1;g=meta.k8s.io,\
                       application/json;as=Table;v=v1beta1;g=meta.k8s.io,application/json";
        assert_eq!(objects(kubectl), Ok(Representation::Table(MetaVersion::V1)));
        assert_eq!(objects("application/vnd.kubernetes.protobuf,application/json"), Ok(Representation::Plain));
        assert_eq!(
            objects(
                "application/vnd.kubernetes.protobuf;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1,\
                     application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1,application/json"
            ),
            Ok(Representation::PartialList(MetaVersion::V1))
        );
        assert_eq!(objects("*/*"), Ok(Representation::Plain));
        assert_eq!(negotiate(None, Offer::Objects), Ok(Representation::Plain));
        let discovery = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList,application/json";
        assert_eq!(negotiate(Some(discovery), Offer::Discovery), Ok(Representation::Discovery(DiscoveryVersion::V2)));
        assert_eq!(negotiate(Some(discovery), Offer::Plain), Ok(Representation::Plain));
    }

    #[test]
    fn what_the_server_does_not_have_is_not_acceptable() {
        for accept in ["application/vnd.kubernetes.protobuf", "application/yaml", "text/html", "application/json;q=0"] {
            assert_eq!(objects(accept), Err(406), "{accept}");
        }
        assert_eq!(objects("application/json;as=Table;v=v9;g=meta.k8s.io"), Err(406));
    }

    #[test]
    fn the_higher_quality_wins_over_the_earlier_clause() {
        let table = "application/json;as=Table;v=v1;g=meta.k8s.io;q=0.5";
        assert_eq!(objects(&format!("{table},application/json;q=0.9")), Ok(Representation::Plain));
        assert_eq!(objects(&format!("{table},application/json;q=0.4")), Ok(Representation::Table(MetaVersion::V1)));
    }
}
