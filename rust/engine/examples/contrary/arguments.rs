//! The command line.

use super::behaviour::Behaviour;
use super::identity::Certificate;
use std::path::PathBuf;

/// What the server is started with.
pub(crate) struct Arguments {
    pub(crate) port: u16,
    pub(crate) tls: bool,
    pub(crate) certificate: Certificate,
    pub(crate) identity: Option<PathBuf>,
    pub(crate) behaviour: Behaviour,
}

impl Arguments {
    /// The error is one sentence: the flag, the value seen, what was expected.
    pub(crate) fn parse(mut given: impl Iterator<Item = String>) -> Result<Self, String> {
        let mut arguments = Self {
            port: 0,
            tls: false,
            certificate: Certificate::Valid,
            identity: None,
            behaviour: Behaviour::default(),
        };
        while let Some(flag) = given.next() {
            if flag == "--tls" {
                arguments.tls = true;
                continue;
            }
            let value = given.next().ok_or_else(|| format!("{flag} was given without a value"))?;
            let wrong = |expected: &str| format!("{flag}: got '{value}', expected {expected}");
            match flag.as_str() {
                "--port" => arguments.port = value.parse().map_err(|_| wrong("a port"))?,
                "--certificate" => {
                    arguments.certificate =
                        Certificate::named(&value).ok_or_else(|| wrong("one of valid, expired, other-name"))?;
                }
                "--identity" => arguments.identity = Some(value.into()),
                "--behaviour" => {
                    arguments.behaviour = serde_json::from_str(&value).map_err(|error| wrong(&error.to_string()))?;
                }
                _ => return Err(format!("got the flag '{flag}'; known ones stand at the top of contrary_server.rs")),
            }
        }
        Ok(arguments)
    }
}
