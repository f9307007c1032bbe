//! Whose log is read: one container's of a Pod, as kube-apiserver chooses it.

use super::semantics::status::Status;
use serde::Deserialize;
use std::borrow::Cow;
use std::fmt::Write as _;

/// As much of a Pod as names its containers.
#[derive(Deserialize, Default)]
#[serde(default)]
struct Pod<'a> {
    #[serde(borrow)]
    spec: Spec<'a>,
}

#[derive(Deserialize, Default)]
#[serde(default, rename_all = "camelCase")]
struct Spec<'a> {
    #[serde(borrow)]
    containers: Vec<Container<'a>>,
    #[serde(borrow)]
    init_containers: Vec<Container<'a>>,
    #[serde(borrow)]
    ephemeral_containers: Vec<Container<'a>>,
}

#[derive(Deserialize, Default)]
#[serde(default)]
struct Container<'a> {
    #[serde(borrow)]
    name: Cow<'a, str>,
}

fn names(containers: &[Container<'_>]) -> String {
    containers.iter().map(|container| &*container.name).collect::<Vec<_>>().join(" ")
}

/// Whether the Pod `name`, a JSON object, has the container that is asked for; without a name (an empty one is none)
/// it must have one container and no more.
pub(super) fn check(wanted: Option<&str>, name: &str, pod: &[u8]) -> Result<(), Status> {
    let Spec { containers, init_containers, ephemeral_containers } =
        serde_json::from_slice::<Pod<'_>>(pod).unwrap_or_default().spec;
    if let Some(wanted) = wanted.filter(|wanted| !wanted.is_empty()) {
        let mut all = init_containers.iter().chain(&containers).chain(&ephemeral_containers);
        if all.any(|container| container.name == wanted) {
            return Ok(());
        }
        return Err(Status::bad_request(format!("container {wanted} is not valid for pod {name}")));
    }
    if containers.len() == 1 {
        return Ok(());
    }
    let mut text = format!("a container name must be specified for pod {name}");
    if !containers.is_empty() {
        let _ = write!(text, ", choose one of: [{}]", names(&containers));
        if !init_containers.is_empty() {
            let _ = write!(text, " or one of the init containers: [{}]", names(&init_containers));
        }
    }
    Err(Status::bad_request(text))
}

#[cfg(test)]
mod tests {
    use super::*;

    const ONE: &str = r#"{"metadata":{"name":"p"},"spec":{"volumes":[],"containers":[{"image":"i","name":"a"}]}}"#;
    const MANY: &str = r#"{"spec":{"initContainers":[{"name":"i"}],"containers":[{"name":"a"},{"name":"b"}],
                          "ephemeralContainers":[{"name":"e"}]}}"#;

    #[test]
    fn a_name_must_be_one_of_the_pods_containers() {
        for (wanted, pod) in [("a", ONE), ("i", MANY), ("b", MANY), ("e", MANY)] {
            assert!(check(Some(wanted), "p", pod.as_bytes()).is_ok(), "{wanted}");
        }
        let refused = check(Some("x"), "p", MANY.as_bytes()).unwrap_err();
        assert_eq!(refused.message, "container x is not valid for pod p");
    }

    #[test]
    fn without_a_name_the_only_container_is_meant_and_of_several_none() {
        let none = r#"{"spec":{"initContainers":[{"name":"i"}]}}"#;
        for wanted in [None, Some("")] {
            let said = |pod: &str| check(wanted, "p", pod.as_bytes()).map_err(|status| status.message);
            assert_eq!(said(ONE), Ok(()));
            let rest = "choose one of: [a b] or one of the init containers: [i]";
            assert_eq!(said(MANY), Err(format!("a container name must be specified for pod p, {rest}")));
            assert_eq!(said(none), Err("a container name must be specified for pod p".to_owned()));
        }
    }
}
