//! What the query and the body of a write say besides the object.

use serde::Deserialize;
use serde_json::json;

use crate::api_server::semantics::kinds::Kind;
use crate::api_server::semantics::list_options::no_integer;
use crate::api_server::semantics::status::{FieldError, Status};

/// What becomes of unknown fields.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum FieldValidation {
    /// They are dropped.
    Ignore,
    /// They are dropped, with a warning each.
    #[default]
    Warn,
    /// They are an error.
    Strict,
}

/// Options of a create, update or patch.
#[derive(Clone, Debug, Default)]
pub struct WriteOptions {
    /// Do everything but store it.
    pub dry_run: bool,
    /// Who writes; never empty.
    pub manager: String,
    /// Whether the query named the manager: apply asks for it.
    pub manager_named: bool,
    /// What becomes of unknown fields.
    pub validation: FieldValidation,
    /// Take fields of other managers: apply only.
    pub force: Option<bool>,
}

fn unknown_dry_run(given: &[impl AsRef<str>]) -> FieldError {
    let given: Vec<&str> = given.iter().map(AsRef::as_ref).collect();
    FieldError::not_supported("dryRun", &json!(given), &["All"])
}

impl WriteOptions {
    /// Reads them from the query; `of` is `CreateOptions`, `UpdateOptions` or `PatchOptions`, for errors. Without `fieldManager`, the user agent up to its first slash counts.
    pub fn read<'q>(query: impl Fn(&str) -> Option<&'q str>, user_agent: &str, of: &str) -> Result<Self, Status> {
        let dry_run = match query("dryRun") {
            None | Some("") => false,
            Some("All") => true,
            Some(other) => return Err(Status::invalid_options(of, &[unknown_dry_run(&[other])])),
        };
        let validation = match query("fieldValidation") {
            None | Some("" | "Warn") => FieldValidation::Warn,
            Some("Ignore") => FieldValidation::Ignore,
            Some("Strict") => FieldValidation::Strict,
            Some(other) => {
                let known = ["", "Ignore", "Strict", "Warn"];
                let error = FieldError::not_supported("fieldValidation", &json!(other), &known);
                return Err(Status::invalid_options(of, &[error]));
            }
        };
        let named = query("fieldManager").filter(|m| !m.is_empty());
        if named.is_some_and(|m| m.len() > 128) {
            return Err(Status::invalid_options(of, &[FieldError::too_long("fieldManager", 128)]));
        }
        let agent = user_agent.split('/').next().unwrap_or_default();
        let force = query("force").map(|f| f == "true" || f == "1");
        Ok(Self {
            dry_run,
            manager: named.unwrap_or(if agent.is_empty() { "unknown" } else { agent }).to_owned(),
            manager_named: named.is_some(),
            validation,
            force,
        })
    }
}

/// Options of a delete, from its body and query.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct DeleteOptions {
    /// `DeleteOptions`, or "".
    pub kind: String,
    /// What must hold for the deletion to happen.
    pub preconditions: Option<Preconditions>,
    /// `["All"]` for a dry run.
    pub dry_run: Vec<String>,
    /// Orphan, Background or Foreground. There is nothing here that could be orphaned: it is only checked.
    pub propagation_policy: Option<String>,
    /// What `propagationPolicy` took the place of.
    pub orphan_dependents: Option<bool>,
    /// Seconds. Deletion is immediate here: it is only read.
    pub grace_period_seconds: Option<i64>,
}

/// What must hold of an object.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Preconditions {
    /// Its uid.
    pub uid: Option<String>,
    /// Its version.
    pub resource_version: Option<String>,
}

impl DeleteOptions {
    /// Reads a delete's body, which may be empty, and its query.
    pub fn read<'q>(body: &[u8], query: impl Fn(&str) -> Option<&'q str>) -> Result<Self, Status> {
        let mut options: Self = if body.iter().all(u8::is_ascii_whitespace) {
            Self::default()
        } else {
            serde_json::from_slice(body)
                .map_err(|e| Status::bad_request(format!("the body is no DeleteOptions: {e}")))?
        };
        if !matches!(options.kind.as_str(), "" | "DeleteOptions") {
            return Err(Status::bad_request(format!("the body is a {}, no DeleteOptions", options.kind)));
        }
        if let Some(seconds) = query("gracePeriodSeconds") {
            options.grace_period_seconds = Some(seconds.parse().map_err(|_| Status::bad_request(no_integer(seconds)))?);
        }
        if let Some(dry_run) = query("dryRun") {
            options.dry_run = vec![dry_run.into()];
        }
        if let Some(policy) = query("propagationPolicy") {
            options.propagation_policy = Some(policy.into());
        }
        let mut errors = Vec::new();
        if let Some(policy) = &options.propagation_policy {
            let known = ["Foreground", "Background", "Orphan", "nil"];
            if options.orphan_dependents.is_some() {
                let detail = "orphanDependents and deletionPropagation cannot be both set";
                errors.push(FieldError::invalid("propagationPolicy", &json!(policy), detail));
            } else if !known[..3].contains(&policy.as_str()) {
                errors.push(FieldError::not_supported("propagationPolicy", &json!(policy), &known));
            }
        }
        if options.dry_run.iter().any(|d| d != "All") {
            errors.push(unknown_dry_run(&options.dry_run));
        }
        if errors.is_empty() { Ok(options) } else { Err(Status::invalid_options("DeleteOptions", &errors)) }
    }

    /// Whether nothing is to be deleted in truth.
    pub fn is_dry_run(&self) -> bool {
        !self.dry_run.is_empty()
    }

    /// Checks the preconditions.
    pub fn check(&self, kind: &Kind, name: &str, uid: &str, version: &str) -> Result<(), Status> {
        let Some(wanted) = &self.preconditions else { return Ok(()) };
        let differs = |what: &str, wanted: &Option<String>, is: &str, then: &str| match wanted {
            Some(wanted) if wanted != is => Err(Status::precondition_failed(
                kind,
                name,
                &format!(
                    "the {what} in the precondition ({wanted}) does not match the {what} in record ({is}). The object might have been {then}"
                ),
            )),
            _ => Ok(()),
        };
        differs("UID", &wanted.uid, uid, "deleted and then recreated")?;
        differs("ResourceVersion", &wanted.resource_version, version, "modified")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::api_server::semantics::kinds;

    #[test]
    fn the_query_says_who_writes_and_how() {
        let query = |key: &str| match key {
            "dryRun" => Some("All"),
            "fieldValidation" => Some("Strict"),
            _ => None,
        };
        let options = WriteOptions::read(query, "kubectl/v1.36 (linux)", "PatchOptions").unwrap();
        assert!(options.dry_run && !options.manager_named);
        assert_eq!((options.manager.as_str(), options.validation), ("kubectl", FieldValidation::Strict));
        for key in ["dryRun", "fieldValidation"] {
            let wrong = WriteOptions::read(|k| (k == key).then_some("Some"), "", "CreateOptions").unwrap_err();
            assert_eq!(wrong.code, 422, "{key}");
        }
    }

    #[test]
    fn a_delete_takes_its_options_from_the_body_and_the_query() {
        let none = DeleteOptions::read(b"", |_| None).unwrap();
        assert!(!none.is_dry_run() && none.preconditions.is_none());
        let body = br#"{"kind":"DeleteOptions","apiVersion":"v1","preconditions":{"uid":"u"},"gracePeriodSeconds":0}"#;
        let options = DeleteOptions::read(body, |k| (k == "dryRun").then_some("All")).unwrap();
        assert!(options.is_dry_run());
        let pods = kinds::find("", "v1", "pods").unwrap();
        assert!(options.check(pods, "p", "u", "1").is_ok());
        assert_eq!(options.check(pods, "p", "v", "1").unwrap_err().code, 409);
        assert_eq!(DeleteOptions::read(b"[1]", |_| None).unwrap_err().code, 400);
        let wrong = DeleteOptions::read(b"", |k| (k == "propagationPolicy").then_some("x"));
        assert_eq!(wrong.unwrap_err().code, 422);
    }
}
