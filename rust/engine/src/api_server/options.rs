//! What a server is started with.

use serde::Deserialize;
use std::net::IpAddr;

/// When the plan's clock starts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Start {
    /// When the driver says so.
    #[default]
    Manual,
    /// With the first Pod WATCH.
    Watch,
    /// At once.
    Now,
    /// Not at all: the objects stand still.
    Never,
}

/// Everything but the plan and the recorder.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Options {
    /// Address to listen on; anything but loopback needs `tls`.
    pub listen: IpAddr,
    /// Port; 0 lets the kernel choose.
    pub port: u16,
    /// HTTPS with a CA and a bearer token made for this run; plain HTTP without a token otherwise.
    pub tls: bool,
    /// When the plan's clock starts.
    pub start: Start,
    /// Pads each planned Pod up to that many bytes of JSON.
    pub pod_bytes: usize,
    /// Response bytes a second, of all connections together; the rest queues.
    pub limit_bytes_per_second: Option<u64>,
    /// Requests a second, of all connections together; the rest queues.
    pub limit_requests_per_second: Option<u64>,
    /// Serves metrics.k8s.io.
    pub metrics: bool,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            listen: IpAddr::from([127, 0, 0, 1]),
            port: 0,
            tls: true,
            start: Start::Manual,
            pod_bytes: 0,
            limit_bytes_per_second: None,
            limit_requests_per_second: None,
            metrics: true,
        }
    }
}

impl Options {
    /// The broken rule between fields, if any, as one sentence.
    pub fn violation(&self) -> Option<String> {
        if !self.tls && !self.listen.is_loopback() {
            return Some(format!(
                "listen: got {} without TLS, expected a loopback address; other addresses need TLS and the token",
                self.listen
            ));
        }
        if self.pod_bytes > 1 << 20 {
            return Some(format!("pod_bytes: got {}, expected at most 1048576", self.pod_bytes));
        }
        if self.limit_bytes_per_second == Some(0) || self.limit_requests_per_second == Some(0) {
            return Some("limit: got 0 a second, expected a positive rate".to_owned());
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_open_address_without_tls_is_refused() {
        let open = Options { listen: IpAddr::from([0, 0, 0, 0]), tls: false, ..Options::default() };
        assert!(open.violation().unwrap().contains("0.0.0.0"));
        assert_eq!(Options { tls: true, ..open }.violation(), None);
        assert_eq!(Options { tls: false, ..Options::default() }.violation(), None);
    }

    #[test]
    fn unknown_options_are_refused_by_name() {
        let error = serde_json::from_str::<Options>(r#"{"ports": 1}"#).unwrap_err();
        assert!(error.to_string().contains("`ports`"), "{error}");
    }
}
