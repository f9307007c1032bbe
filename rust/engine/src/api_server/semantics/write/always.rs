//! Fields that the real server writes whether they are set or not: its types hold them by value, and its JSON does
//! not leave them out.

use serde_json::{Value, json};

/// The value of a field that is not set.
#[derive(Clone, Copy, Debug)]
pub(super) enum Empty {
    Null,
    Zero,
    Text,
    False,
    Object,
}

impl Empty {
    pub(super) fn value(self) -> Value {
        match self {
            Self::Null => Value::Null,
            Self::Zero => 0.into(),
            Self::Text => "".into(),
            Self::False => false.into(),
            Self::Object => json!({}),
        }
    }
}

/// Those fields of a type, with their empty values.
pub(super) fn of(type_name: &str) -> &'static [(&'static str, Empty)] {
    use Empty::{False, Null, Object, Text, Zero};
    match type_name {
        "PodCondition" => &[("lastProbeTime", Null), ("lastTransitionTime", Null)],
        "NodeCondition" => &[("lastHeartbeatTime", Null), ("lastTransitionTime", Null)],
        "ContainerStatus" => &[
            ("state", Object),
            ("lastState", Object),
            ("ready", False),
            ("restartCount", Zero),
            ("image", Text),
            ("imageID", Text),
        ],
        "Event" => &[
            ("source", Object),
            ("firstTimestamp", Null),
            ("lastTimestamp", Null),
            ("eventTime", Null),
            ("reportingComponent", Text),
            ("reportingInstance", Text),
        ],
        "ResourceQuota" => &[("spec", Object), ("status", Object)],
        "Lease" => &[("spec", Object)],
        "Deployment" | "ReplicaSet" | "StatefulSet" | "DaemonSet" | "Job" | "CronJob" | "Service" => {
            &[("status", Object)]
        }
        "ServiceStatus" => &[("loadBalancer", Object)],
        "ReplicaSetStatus" => &[("replicas", Zero)],
        "StatefulSetStatus" => &[("replicas", Zero), ("availableReplicas", Zero)],
        "DaemonSetStatus" => &[
            ("currentNumberScheduled", Zero),
            ("numberMisscheduled", Zero),
            ("desiredNumberScheduled", Zero),
            ("numberReady", Zero),
        ],
        "JobTemplateSpec" | "PodTemplateSpec" => &[("metadata", Object)],
        _ => &[],
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::api_server::semantics::schema;

    #[test]
    fn every_field_is_one_of_its_type() {
        let mut seen = 0;
        for of_type in schema::types() {
            for (name, _) in of(of_type.name()) {
                assert!(of_type.field(name).is_some(), "{}.{name}", of_type.name());
                seen += 1;
            }
        }
        assert!(seen > 25, "{seen}");
    }
}
