//! The part of JSON Schema that the schemas in `docs/schema` are written in.

use serde_json::Value;

/// Where and why `value` is not of the schema; nothing if it is. `root` holds the definitions.
pub fn fault(root: &Value, schema: &Value, value: &Value, path: &str) -> Option<String> {
    let fail = |why: String| Some(format!("{path}: {why}"));
    let within = |schema: &Value| fault(root, schema, value, path);
    let Value::Object(schema) = schema else { return fail(format!("{schema} is no schema")) };
    for (keyword, argument) in schema {
        let found = match keyword.as_str() {
            "$ref" => {
                let pointer = argument.as_str().unwrap_or_default().trim_start_matches('#');
                match root.pointer(pointer) {
                    Some(schema) => within(schema),
                    None => fail(format!("{pointer} is not defined")),
                }
            }
            "type" if !is_of(argument, value) => fail(format!("{value} is no {argument}")),
            "const" if argument != value => fail(format!("{value} is not {argument}")),
            "enum" if !list(argument).contains(value) => {
                fail(format!("{value} is not in {argument}"))
            }
            "minimum" if value.as_f64() < argument.as_f64() => {
                fail(format!("{value} is too small"))
            }
            "anyOf" | "oneOf" => {
                let faults: Vec<String> = list(argument).iter().filter_map(within).collect();
                let fitting = list(argument).len() - faults.len();
                let wanted = if keyword == "oneOf" { fitting == 1 } else { fitting > 0 };
                if wanted { None } else { fail(format!("{fitting} fit: {}", faults.join("; "))) }
            }
            "not" if within(argument).is_none() => fail("is what it must not be".to_owned()),
            "if" => {
                let next = if within(argument).is_none() { "then" } else { "else" };
                schema.get(next).and_then(within)
            }
            "required" => {
                let missing = list(argument).iter().find(|name| {
                    value.is_object() && value.get(name.as_str().unwrap_or_default()).is_none()
                });
                missing.and_then(|name| fail(format!("{name} is missing")))
            }
            "properties" => members(value).find_map(|(name, member)| {
                fault(root, argument.get(name)?, member, &format!("{path}/{name}"))
            }),
            "additionalProperties" => members(value)
                .find(|(name, _)| schema["properties"].get(name).is_none())
                .and_then(|(name, _)| fail(format!("`{name}` is not named"))),
            "items" => list(value)
                .iter()
                .enumerate()
                .find_map(|(at, item)| fault(root, argument, item, &format!("{path}/{at}"))),
            "type" | "const" | "enum" | "minimum" | "not" | "then" | "else" | "$defs"
            | "$schema" | "title" | "description" => None,
            other => fail(format!("`{other}` is a keyword that is not known here")),
        };
        if found.is_some() {
            return found;
        }
    }
    None
}

fn is_of(types: &Value, value: &Value) -> bool {
    let one = |name: &Value| match name.as_str() {
        Some("object") => value.is_object(),
        Some("array") => value.is_array(),
        Some("string") => value.is_string(),
        Some("integer") => value.is_i64() || value.is_u64(),
        Some("boolean") => value.is_boolean(),
        Some("null") => value.is_null(),
        _ => false,
    };
    if types.is_array() { list(types).iter().any(one) } else { one(types) }
}

fn list(value: &Value) -> &[Value] {
    value.as_array().map_or(&[], Vec::as_slice)
}

fn members(value: &Value) -> impl Iterator<Item = (&String, &Value)> {
    value.as_object().into_iter().flatten()
}
