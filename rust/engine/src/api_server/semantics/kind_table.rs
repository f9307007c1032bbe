//! The kinds that are served: one row each.

use super::cells;
use super::kinds::{Cell, Column, Field, Kind, NameRule, Source, Subresource};
use super::pod_row;

const ALL_VERBS: &[&str] = &["create", "delete", "deletecollection", "get", "list", "patch", "update", "watch"];
const NAMESPACE_VERBS: &[&str] = &["create", "delete", "get", "list", "patch", "update", "watch"];
const CREATE: &[&str] = &["create"];
const READ: &[&str] = &["get", "list"];
const SUB_VERBS: &[&str] = &["get", "patch", "update"];

const fn status(kind: &'static str) -> Subresource {
    Subresource { name: "status", kind, verbs: SUB_VERBS }
}

const fn column(name: &'static str, kind: &'static str, description: &'static str, cell: Cell) -> Column {
    Column { name, kind, priority: 0, description, cell }
}

const fn wide(name: &'static str, kind: &'static str, description: &'static str, cell: Cell) -> Column {
    Column { name, kind, priority: 1, description, cell }
}

const NAME: Column = column("Name", "string", "Name of the object, unique for its kind and namespace.", Cell::Name);
const AGE: Column = column("Age", "string", "Time since the object was created.", Cell::Age);

const fn containers(pointer: fn(&serde_json::Value, super::instant::Instant) -> serde_json::Value) -> Column {
    wide("Containers", "string", "Names of the template's containers.", Cell::Of(pointer))
}

const fn images(pointer: fn(&serde_json::Value, super::instant::Instant) -> serde_json::Value) -> Column {
    wide("Images", "string", "Images of the template's containers.", Cell::Of(pointer))
}

const SELECTOR: Column =
    wide("Selector", "string", "Labels of the Pods it looks after.", Cell::Of(cells::label_selector));

const fn field(label: &'static str, pointer: &'static str) -> Field {
    Field { label, pointer, default: "" }
}

const NAME_FIELD: Field = field("metadata.name", "/metadata/name");
const NAMESPACE_FIELD: Field = field("metadata.namespace", "/metadata/namespace");
const FIELDS: &[Field] = &[NAME_FIELD, NAMESPACE_FIELD];

/// What most rows share.
const BASE: Kind = Kind {
    group: "",
    version: "v1",
    plural: "",
    singular: "",
    kind: "",
    namespaced: true,
    short_names: &[],
    categories: &[],
    verbs: ALL_VERBS,
    subresources: &[],
    columns: &[NAME, AGE],
    row: None,
    fields: FIELDS,
    names: NameRule::Subdomain,
    generation: false,
    source: Source::Stored,
};

/// Every kind, core group first, then by group.
pub(super) static KINDS: &[Kind] = &[
    Kind {
        plural: "configmaps",
        singular: "configmap",
        kind: "ConfigMap",
        short_names: &["cm"],
        columns: &[NAME, column("Data", "string", "Number of entries.", Cell::Of(cells::config_entries)), AGE],
        ..BASE
    },
    Kind {
        plural: "endpoints",
        singular: "endpoints",
        kind: "Endpoints",
        short_names: &["ep"],
        columns: &[NAME, column("Endpoints", "string", "Addresses with their ports.", Cell::Of(cells::endpoints)), AGE],
        ..BASE
    },
    Kind {
        plural: "events",
        singular: "event",
        kind: "Event",
        short_names: &["ev"],
        columns: &[
            column("Last Seen", "string", "Time since it was last observed.", Cell::Of(cells::event_last_seen)),
            column("Type", "string", "Normal or Warning.", Cell::Text("/type", "")),
            column("Reason", "string", "Why it happened, for programs.", Cell::Text("/reason", "")),
            column("Object", "string", "What it is about.", Cell::Of(cells::event_object)),
            wide("Subobject", "string", "Which part of it.", Cell::Text("/involvedObject/fieldPath", "")),
            wide("Source", "string", "Who reported it.", Cell::Of(cells::event_source)),
            column("Message", "string", "What happened, for people.", Cell::Of(cells::event_message)),
            wide("First Seen", "string", "Time since it was first observed.", Cell::Of(cells::event_first_seen)),
            wide("Count", "string", "How often it was observed.", Cell::Of(cells::event_count)),
            wide("Name", "string", "Name of the event.", Cell::Name),
        ],
        fields: &[
            NAME_FIELD,
            NAMESPACE_FIELD,
            field("involvedObject.kind", "/involvedObject/kind"),
            field("involvedObject.namespace", "/involvedObject/namespace"),
            field("involvedObject.name", "/involvedObject/name"),
            field("involvedObject.uid", "/involvedObject/uid"),
            field("involvedObject.apiVersion", "/involvedObject/apiVersion"),
            field("involvedObject.resourceVersion", "/involvedObject/resourceVersion"),
            field("involvedObject.fieldPath", "/involvedObject/fieldPath"),
            field("reason", "/reason"),
            field("reportingComponent", "/reportingComponent"),
            field("source", "/source/component"),
            field("type", "/type"),
        ],
        ..BASE
    },
    Kind {
        plural: "namespaces",
        singular: "namespace",
        kind: "Namespace",
        namespaced: false,
        short_names: &["ns"],
        verbs: NAMESPACE_VERBS,
        subresources: &[status("Namespace")],
        columns: &[NAME, column("Status", "string", "Active or Terminating.", Cell::Text("/status/phase", "")), AGE],
        fields: &[NAME_FIELD, field("status.phase", "/status/phase")],
        names: NameRule::Label,
        ..BASE
    },
    Kind {
        plural: "nodes",
        singular: "node",
        kind: "Node",
        namespaced: false,
        short_names: &["no"],
        subresources: &[status("Node")],
        columns: &[
            NAME,
            column("Status", "string", "Whether it takes Pods.", Cell::Of(cells::node_status)),
            column("Roles", "string", "From its role labels.", Cell::Of(cells::node_roles)),
            AGE,
            column("Version", "string", "Of its kubelet.", Cell::Text("/status/nodeInfo/kubeletVersion", "")),
            wide("Internal-IP", "string", "Its address inside the cluster.", Cell::Of(cells::node_internal_ip)),
            wide("External-IP", "string", "Its address outside the cluster.", Cell::Of(cells::node_external_ip)),
            wide("OS-Image", "string", "Its system.", Cell::Text("/status/nodeInfo/osImage", "<unknown>")),
            wide("Kernel-Version", "string", "Its kernel.", Cell::Of(cells::node_kernel)),
            wide(
                "Container-Runtime",
                "string",
                "Its container runtime.",
                Cell::Text("/status/nodeInfo/containerRuntimeVersion", "<unknown>"),
            ),
        ],
        fields: &[NAME_FIELD, Field { label: "spec.unschedulable", pointer: "/spec/unschedulable", default: "false" }],
        ..BASE
    },
    Kind {
        plural: "pods",
        singular: "pod",
        kind: "Pod",
        short_names: &["po"],
        categories: &["all"],
        subresources: &[Subresource { name: "log", kind: "Pod", verbs: &["get"] }, status("Pod")],
        columns: &[
            column("Name", "string", NAME.description, Cell::InRow),
            column("Ready", "string", "Containers that are ready, of all.", Cell::InRow),
            column("Status", "string", "What the Pod is doing.", Cell::InRow),
            column("Restarts", "string", "How often its containers restarted.", Cell::InRow),
            column("Age", "string", AGE.description, Cell::InRow),
            wide("IP", "string", "Its first address.", Cell::InRow),
            wide("Node", "string", "Where it runs.", Cell::InRow),
            wide("Nominated Node", "string", "Where it will run once others have left.", Cell::InRow),
            wide("Readiness Gates", "string", "Gates that are open, of all.", Cell::InRow),
        ],
        row: Some(pod_row::write_cells),
        fields: &[
            NAME_FIELD,
            NAMESPACE_FIELD,
            field("spec.nodeName", "/spec/nodeName"),
            field("spec.restartPolicy", "/spec/restartPolicy"),
            field("spec.schedulerName", "/spec/schedulerName"),
            field("spec.serviceAccountName", "/spec/serviceAccountName"),
            Field { label: "spec.hostNetwork", pointer: "/spec/hostNetwork", default: "false" },
            field("status.phase", "/status/phase"),
            field("status.podIP", "/status/podIP"),
            // The real server knows the label and never gives it a value.
            field("status.podIPs", "/status/none"),
            field("status.nominatedNodeName", "/status/nominatedNodeName"),
        ],
        generation: true,
        ..BASE
    },
    Kind {
        plural: "resourcequotas",
        singular: "resourcequota",
        kind: "ResourceQuota",
        short_names: &["quota"],
        subresources: &[status("ResourceQuota")],
        columns: &[
            NAME,
            column("Request", "string", "Used of what may be requested.", Cell::Of(cells::quota_requests)),
            column("Limit", "string", "Used of what may be set as limits.", Cell::Of(cells::quota_limits)),
            AGE,
        ],
        ..BASE
    },
    Kind {
        plural: "secrets",
        singular: "secret",
        kind: "Secret",
        columns: &[
            NAME,
            column("Type", "string", "What it holds.", Cell::Text("/type", "")),
            column("Data", "string", "Number of entries.", Cell::Of(cells::secret_entries)),
            AGE,
        ],
        fields: &[NAME_FIELD, NAMESPACE_FIELD, field("type", "/type")],
        ..BASE
    },
    Kind {
        plural: "serviceaccounts",
        singular: "serviceaccount",
        kind: "ServiceAccount",
        short_names: &["sa"],
        ..BASE
    },
    Kind {
        plural: "services",
        singular: "service",
        kind: "Service",
        short_names: &["svc"],
        categories: &["all"],
        subresources: &[status("Service")],
        columns: &[
            NAME,
            column("Type", "string", "How it is reached.", Cell::Text("/spec/type", "")),
            column("Cluster-IP", "string", "Its address inside the cluster.", Cell::Of(cells::service_cluster_ip)),
            column("External-IP", "string", "Its addresses outside.", Cell::Of(cells::service_external_ip)),
            column("Port(s)", "string", "Its ports.", Cell::Of(cells::service_ports)),
            AGE,
            wide("Selector", "string", "Labels of its Pods.", Cell::Of(cells::service_selector)),
        ],
        fields: &[
            NAME_FIELD,
            NAMESPACE_FIELD,
            field("spec.clusterIP", "/spec/clusterIP"),
            field("spec.type", "/spec/type"),
        ],
        names: NameRule::Label1035,
        ..BASE
    },
    Kind {
        group: "apps",
        plural: "daemonsets",
        singular: "daemonset",
        kind: "DaemonSet",
        short_names: &["ds"],
        categories: &["all"],
        subresources: &[status("DaemonSet")],
        columns: &[
            NAME,
            column("Desired", "integer", "Nodes that should run it.", Cell::Count("/status/desiredNumberScheduled")),
            column("Current", "integer", "Nodes that run it.", Cell::Count("/status/currentNumberScheduled")),
            column("Ready", "integer", "Nodes where it is ready.", Cell::Count("/status/numberReady")),
            column("Up-to-date", "integer", "Nodes with the latest.", Cell::Count("/status/updatedNumberScheduled")),
            column("Available", "integer", "Nodes where it is available.", Cell::Count("/status/numberAvailable")),
            column("Node Selector", "string", "Labels of its nodes.", Cell::Of(cells::template_node_selector)),
            AGE,
            containers(cells::template_containers),
            images(cells::template_images),
            SELECTOR,
        ],
        generation: true,
        ..BASE
    },
    Kind {
        group: "apps",
        plural: "deployments",
        singular: "deployment",
        kind: "Deployment",
        short_names: &["deploy"],
        categories: &["all"],
        subresources: &[status("Deployment")],
        columns: &[
            NAME,
            column("Ready", "string", "Replicas that are ready, of those wanted.", Cell::Of(cells::replicas_ready)),
            column("Up-to-date", "string", "Replicas of the latest template.", Cell::Count("/status/updatedReplicas")),
            column("Available", "string", "Replicas that are available.", Cell::Count("/status/availableReplicas")),
            AGE,
            containers(cells::template_containers),
            images(cells::template_images),
            SELECTOR,
        ],
        generation: true,
        ..BASE
    },
    Kind {
        group: "apps",
        plural: "replicasets",
        singular: "replicaset",
        kind: "ReplicaSet",
        short_names: &["rs"],
        categories: &["all"],
        subresources: &[status("ReplicaSet")],
        columns: &[
            NAME,
            column("Desired", "integer", "Replicas wanted.", Cell::Count("/spec/replicas")),
            column("Current", "integer", "Replicas that exist.", Cell::Count("/status/replicas")),
            column("Ready", "integer", "Replicas that are ready.", Cell::Count("/status/readyReplicas")),
            AGE,
            containers(cells::template_containers),
            images(cells::template_images),
            SELECTOR,
        ],
        generation: true,
        ..BASE
    },
    Kind {
        group: "apps",
        plural: "statefulsets",
        singular: "statefulset",
        kind: "StatefulSet",
        short_names: &["sts"],
        categories: &["all"],
        subresources: &[status("StatefulSet")],
        columns: &[
            NAME,
            column("Ready", "string", "Replicas that are ready, of those wanted.", Cell::Of(cells::replicas_ready)),
            AGE,
            containers(cells::template_containers),
            images(cells::template_images),
        ],
        generation: true,
        ..BASE
    },
    Kind {
        group: "authorization.k8s.io",
        plural: "selfsubjectaccessreviews",
        singular: "selfsubjectaccessreview",
        kind: "SelfSubjectAccessReview",
        namespaced: false,
        verbs: CREATE,
        fields: &[],
        source: Source::Review,
        ..BASE
    },
    Kind {
        group: "authorization.k8s.io",
        plural: "selfsubjectrulesreviews",
        singular: "selfsubjectrulesreview",
        kind: "SelfSubjectRulesReview",
        namespaced: false,
        verbs: CREATE,
        fields: &[],
        source: Source::Review,
        ..BASE
    },
    Kind {
        group: "batch",
        plural: "cronjobs",
        singular: "cronjob",
        kind: "CronJob",
        short_names: &["cj"],
        categories: &["all"],
        subresources: &[status("CronJob")],
        columns: &[
            NAME,
            column("Schedule", "string", "When it runs, in cron's form.", Cell::Text("/spec/schedule", "")),
            column("Timezone", "string", "Time zone of the schedule.", Cell::Text("/spec/timeZone", "<none>")),
            column("Suspend", "boolean", "Whether it is held.", Cell::Of(cells::cronjob_suspend)),
            column("Active", "integer", "Jobs that run now.", Cell::Of(cells::cronjob_active)),
            column("Last Schedule", "string", "Time since it last ran.", Cell::Of(cells::cronjob_last_schedule)),
            AGE,
            containers(cells::job_template_containers),
            images(cells::job_template_images),
            wide("Selector", "string", "Labels of its Pods.", Cell::Of(cells::job_template_selector)),
        ],
        generation: true,
        ..BASE
    },
    Kind {
        group: "batch",
        plural: "jobs",
        singular: "job",
        kind: "Job",
        categories: &["all"],
        subresources: &[status("Job")],
        columns: &[
            NAME,
            column("Status", "string", "How far it is.", Cell::Of(cells::job_status)),
            column("Completions", "string", "Pods that succeeded, of those wanted.", Cell::Of(cells::job_completions)),
            column("Duration", "string", "How long it took, or has run.", Cell::Of(cells::job_duration)),
            AGE,
            containers(cells::template_containers),
            images(cells::template_images),
            SELECTOR,
        ],
        fields: &[
            NAME_FIELD,
            NAMESPACE_FIELD,
            Field { label: "status.successful", pointer: "/status/succeeded", default: "0" },
        ],
        generation: true,
        ..BASE
    },
    Kind {
        group: "coordination.k8s.io",
        plural: "leases",
        singular: "lease",
        kind: "Lease",
        columns: &[NAME, column("Holder", "string", "Who holds it.", Cell::Text("/spec/holderIdentity", "")), AGE],
        ..BASE
    },
    Kind {
        group: "metrics.k8s.io",
        version: "v1beta1",
        plural: "nodes",
        singular: "",
        kind: "NodeMetrics",
        namespaced: false,
        verbs: READ,
        source: Source::Metrics,
        ..BASE
    },
    Kind {
        group: "metrics.k8s.io",
        version: "v1beta1",
        plural: "pods",
        singular: "",
        kind: "PodMetrics",
        verbs: READ,
        source: Source::Metrics,
        ..BASE
    },
];
