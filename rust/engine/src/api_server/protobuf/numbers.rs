//! Which field of a type has which number.

use crate::api_server::semantics::schema::Shape;
use std::collections::HashMap;
use std::sync::LazyLock;

/// What a number stands for.
#[derive(Debug)]
pub(super) enum Meaning {
    /// A field of the type.
    Field {
        /// Its name in JSON.
        name: &'static str,
        /// A zero is a value, not the lack of one.
        pointer: bool,
        /// Its shape, where semantics/schema has no such type.
        shape: Option<Shape>,
    },
    /// A message whose fields belong to the outer JSON object; the type that has their numbers.
    Inline(&'static str),
}

type Numbers = HashMap<u32, Meaning>;

static TYPES: LazyLock<HashMap<&'static str, Numbers>> = LazyLock::new(|| {
    let lines = include_str!("numbers.txt").lines().filter(|line| !line.starts_with('#'));
    lines.filter_map(read_line).collect()
});

/// The numbers of the type of that last name.
pub(super) fn of(name: &str) -> Option<&'static Numbers> {
    TYPES.get(name)
}

fn read_line(line: &'static str) -> Option<(&'static str, Numbers)> {
    let (id, fields) = line.split_once(' ')?;
    let numbers = fields.split(' ').filter_map(read_field).collect();
    Some((id.rsplit('.').next()?, numbers))
}

fn read_field(text: &'static str) -> Option<(u32, Meaning)> {
    let (number, field) = text.split_once('=')?;
    let meaning = if let Some(inner) = field.strip_prefix('{').and_then(|f| f.strip_suffix('}')) {
        Meaning::Inline(inner)
    } else {
        let (name, shape) = field.split_once(':').map_or((field, None), |(name, shape)| (name, Some(shape)));
        Meaning::Field { name, pointer: number.ends_with('?'), shape: shape.map(Shape::read) }
    };
    Some((number.trim_end_matches('?').parse().ok()?, meaning))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::api_server::semantics::schema;

    #[test]
    fn every_line_is_read_and_every_type_of_the_schema_has_the_numbers_of_its_fields() {
        let lines = include_str!("numbers.txt").lines().filter(|line| !line.starts_with('#')).count();
        assert_eq!(TYPES.len(), lines);
        for known in schema::types().filter(|known| !known.fields.is_empty()) {
            let Some(numbers) = of(known.name()) else { panic!("{} has no numbers", known.name()) };
            let mut names: Vec<&str> = Vec::new();
            let mut todo: Vec<&Numbers> = vec![numbers];
            while let Some(numbers) = todo.pop() {
                for meaning in numbers.values() {
                    match meaning {
                        Meaning::Field { name, .. } => names.push(name),
                        Meaning::Inline(inner) => todo.push(of(inner).unwrap()),
                    }
                }
            }
            for field in &known.fields {
                let given = names.contains(&field.name) || matches!(field.name, "kind" | "apiVersion");
                assert!(given, "{}.{} has no number", known.name(), field.name);
            }
        }
    }
}
