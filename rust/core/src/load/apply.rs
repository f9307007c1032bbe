//! Server-side apply needs a field manager.

use super::query;

/// Who applies, where the recording does not say.
pub const FIELD_MANAGER: &str = "perfq";

/// The query with perfq as the field manager; `None` where the query names one, which is not doubled.
pub fn field_manager(raw: Option<&str>) -> Option<String> {
    match (query::value(raw, "fieldManager"), raw) {
        (Some(_), _) => None,
        // An empty one counts as none for the server.
        (None, Some(raw)) => {
            Some(query::with(Some(&query::without(raw, "fieldManager")), "fieldManager", FIELD_MANAGER))
        }
        (None, None) => Some(query::with(None, "fieldManager", FIELD_MANAGER)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_field_manager_is_added_once() {
        assert_eq!(field_manager(None).as_deref(), Some("fieldManager=perfq"));
        assert_eq!(field_manager(Some("force=true")).as_deref(), Some("force=true&fieldManager=perfq"));
        assert_eq!(field_manager(Some("fieldManager=&force=true")).as_deref(), Some("force=true&fieldManager=perfq"));
        assert_eq!(field_manager(Some("fieldManager=kubectl")), None);
    }
}
