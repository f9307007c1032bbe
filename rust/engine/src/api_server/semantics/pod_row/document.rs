//! What a Pod's row needs of the Pod. Strings are borrowed from the JSON text.

use std::borrow::Cow;

use serde::Deserialize;

#[derive(Deserialize)]
pub(super) struct Pod<'a> {
    #[serde(borrow, default)]
    pub(super) metadata: Metadata<'a>,
    #[serde(borrow, default)]
    pub(super) spec: Spec<'a>,
    #[serde(borrow, default)]
    pub(super) status: PodStatus<'a>,
}

#[derive(Deserialize, Default)]
#[serde(rename_all = "camelCase", default)]
pub(super) struct Metadata<'a> {
    #[serde(borrow)]
    pub(super) name: Text<'a>,
    #[serde(borrow)]
    pub(super) creation_timestamp: Option<Text<'a>>,
    #[serde(borrow)]
    pub(super) deletion_timestamp: Option<Text<'a>>,
}

#[derive(Deserialize, Default)]
#[serde(rename_all = "camelCase", default)]
pub(super) struct Spec<'a> {
    pub(super) containers: Option<Vec<Anything>>,
    #[serde(borrow)]
    pub(super) init_containers: Option<Vec<InitContainer<'a>>>,
    #[serde(borrow)]
    pub(super) node_name: Text<'a>,
    #[serde(borrow)]
    pub(super) readiness_gates: Option<Vec<Gate<'a>>>,
}

pub(super) type Anything = serde::de::IgnoredAny;

#[derive(Deserialize, Default)]
#[serde(rename_all = "camelCase", default)]
pub(super) struct InitContainer<'a> {
    #[serde(borrow)]
    pub(super) name: Text<'a>,
    #[serde(borrow)]
    pub(super) restart_policy: Text<'a>,
}

#[derive(Deserialize, Default)]
#[serde(rename_all = "camelCase", default)]
pub(super) struct Gate<'a> {
    #[serde(borrow)]
    pub(super) condition_type: Text<'a>,
}

#[derive(Deserialize, Default)]
#[serde(rename_all = "camelCase", default)]
pub(super) struct PodStatus<'a> {
    #[serde(borrow)]
    pub(super) phase: Text<'a>,
    #[serde(borrow)]
    pub(super) reason: Text<'a>,
    #[serde(borrow)]
    pub(super) conditions: Option<Vec<Condition<'a>>>,
    #[serde(borrow)]
    pub(super) init_container_statuses: Option<Vec<Container<'a>>>,
    #[serde(borrow)]
    pub(super) container_statuses: Option<Vec<Container<'a>>>,
    #[serde(borrow, rename = "podIP")]
    pub(super) pod_ip: Text<'a>,
    #[serde(borrow, rename = "podIPs")]
    pub(super) pod_ips: Option<Vec<Address<'a>>>,
    #[serde(borrow)]
    pub(super) nominated_node_name: Text<'a>,
}

#[derive(Deserialize, Default)]
#[serde(default)]
pub(super) struct Address<'a> {
    #[serde(borrow)]
    pub(super) ip: Text<'a>,
}

#[derive(Deserialize, Default)]
#[serde(default)]
pub(super) struct Condition<'a> {
    #[serde(borrow, rename = "type")]
    pub(super) kind: Text<'a>,
    #[serde(borrow)]
    pub(super) status: Text<'a>,
    #[serde(borrow)]
    pub(super) reason: Text<'a>,
}

#[derive(Deserialize, Default)]
#[serde(rename_all = "camelCase", default)]
pub(super) struct Container<'a> {
    #[serde(borrow)]
    pub(super) name: Text<'a>,
    pub(super) ready: bool,
    pub(super) started: Option<bool>,
    pub(super) restart_count: i64,
    #[serde(borrow)]
    pub(super) state: State<'a>,
    #[serde(borrow)]
    pub(super) last_state: State<'a>,
}

#[derive(Deserialize, Default)]
#[serde(default)]
pub(super) struct State<'a> {
    #[serde(borrow)]
    pub(super) waiting: Option<Waiting<'a>>,
    pub(super) running: Option<Anything>,
    #[serde(borrow)]
    pub(super) terminated: Option<Terminated<'a>>,
}

#[derive(Deserialize, Default)]
#[serde(default)]
pub(super) struct Waiting<'a> {
    #[serde(borrow)]
    pub(super) reason: Text<'a>,
}

#[derive(Deserialize, Default)]
#[serde(rename_all = "camelCase", default)]
pub(super) struct Terminated<'a> {
    #[serde(borrow)]
    pub(super) reason: Text<'a>,
    pub(super) exit_code: i64,
    pub(super) signal: i64,
    #[serde(borrow)]
    pub(super) finished_at: Text<'a>,
}

/// A string that is copied only where it has escapes; null reads as "".
#[derive(Default, PartialEq, Eq)]
pub(super) struct Text<'a>(pub(super) Cow<'a, str>);

impl<'de: 'a, 'a> Deserialize<'de> for Text<'a> {
    fn deserialize<D: serde::Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        struct Visitor;
        impl<'de> serde::de::Visitor<'de> for Visitor {
            type Value = Text<'de>;
            fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str("a string")
            }
            fn visit_borrowed_str<E>(self, text: &'de str) -> Result<Text<'de>, E> {
                Ok(Text(Cow::Borrowed(text)))
            }
            fn visit_str<E>(self, text: &str) -> Result<Text<'de>, E> {
                Ok(Text(Cow::Owned(text.into())))
            }
            fn visit_unit<E>(self) -> Result<Text<'de>, E> {
                Ok(Text::default())
            }
        }
        from.deserialize_any(Visitor)
    }
}

impl std::ops::Deref for Text<'_> {
    type Target = str;
    fn deref(&self) -> &str {
        &self.0
    }
}
