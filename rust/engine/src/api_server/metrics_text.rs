//! The server's own counters as Prometheus text.

use super::core::Core;
use std::fmt::Write as _;

/// All counters.
pub(crate) fn text(core: &Core) -> String {
    let totals = core.accounting.totals();
    let churn = core.churn.progress();
    let mut lines = Lines(String::new());
    lines.family("requests_total", "counter", "Requests by path template, verb and status.");
    for operation in &totals.operations {
        for (status, count) in &operation.figures.statuses {
            let labels = [("path", &*operation.path), ("verb", operation.verb), ("code", status)];
            lines.sample("requests_total", &labels, *count);
        }
    }
    for (name, help) in [
        ("response_bytes_total", "Body bytes before compression, by path template and verb."),
        ("response_sent_bytes_total", "Body bytes as they were sent, by path template and verb."),
        ("response_objects_total", "Objects in lists, by path template and verb."),
    ] {
        lines.family(name, "counter", help);
        for operation in &totals.operations {
            let figures = &operation.figures;
            let value = match name {
                "response_bytes_total" => figures.bytes,
                "response_sent_bytes_total" => figures.bytes_sent,
                _ => figures.objects,
            };
            lines.sample(name, &[("path", &operation.path), ("verb", operation.verb)], value);
        }
    }
    lines.single("watches_opened_total", "counter", "Watches opened.", totals.watches.opened);
    lines.single("watches_open", "gauge", "Watches open now.", core.watches.open() as u64);
    lines.family("watches_ended_total", "counter", "Watches ended, by reason.");
    for (why, count) in &totals.watches.ended {
        lines.sample("watches_ended_total", &[("why", why)], *count);
    }
    lines.single(
        "watch_events_written_total",
        "counter",
        "Committed events written to watchers.",
        totals.events_written,
    );
    lines.single("relists_total", "counter", "LISTs after a 410.", totals.relists);
    lines.single("throttled_total", "counter", "Answers with 429.", totals.throttled);
    let connections = &totals.connections;
    lines.single("connections_open", "gauge", "Connections open now.", connections.open);
    lines.family("connections_total", "counter", "Connections by what became of them.");
    for (what, count) in [
        ("accepted", connections.accepted),
        ("refused", connections.refused),
        ("evicted", connections.evicted),
        ("accept_error", connections.accept_errors),
        ("handshake_failure", connections.handshake_failures),
        ("protocol_error", connections.protocol_errors),
    ] {
        lines.sample("connections_total", &[("what", what)], count);
    }
    lines.single("churn_planned", "gauge", "Events of the plan.", churn.planned);
    lines.single("churn_committed_total", "counter", "Events of the plan that were committed.", churn.committed);
    lines.single("churn_skipped_total", "counter", "Events of the plan that met no object.", churn.skipped);
    lines.family("faults_total", "counter", "Injected failures, and what met them.");
    for (kind, count) in core.faults.progress() {
        lines.sample("faults_total", &[("kind", kind), ("event", "injected")], count.injected);
        lines.sample("faults_total", &[("kind", kind), ("event", "exercised")], count.exercised);
    }
    lines.0
}

struct Lines(String);

impl Lines {
    fn family(&mut self, name: &str, kind: &str, help: &str) {
        let _ = writeln!(self.0, "# HELP perfq_{name} {help}\n# TYPE perfq_{name} {kind}");
    }

    fn sample(&mut self, name: &str, labels: &[(&str, &str)], value: u64) {
        let escape = |text: &str| text.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n");
        let labels: Vec<String> = labels.iter().map(|(key, text)| format!("{key}=\"{}\"", escape(text))).collect();
        let _ = writeln!(self.0, "perfq_{name}{{{}}} {value}", labels.join(","));
    }

    fn single(&mut self, name: &str, kind: &str, help: &str, value: u64) {
        self.family(name, kind, help);
        let _ = writeln!(self.0, "perfq_{name} {value}");
    }
}
