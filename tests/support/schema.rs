//! JSON Schemas of what `evaluate-json` takes and gives, written from the types that read and
//! write it: their fields, their names in JSON, and their documentation.
#![expect(clippy::missing_panics_doc, reason = "a test panics where it fails")]

use std::collections::{BTreeMap, BTreeSet};
use std::fs;

use serde_json::{Map, Value, json};
use syn::{Attribute, Expr, Fields, GenericArgument, Item, Lit, Meta, PathArguments, Type};

use crate::generated::root;

/// A prefix for the types of a file, and the file. Two files may have a type of one name.
const SOURCES: &[(&str, &str)] = &[
    ("", "policy/src/finding.rs"),
    ("", "policy/src/evaluate.rs"),
    ("Settings", "policy/src/settings.rs"),
    ("Profile", "policy/src/profile/schema.rs"),
    ("Profile", "policy/src/profile/contract.rs"),
    ("Profile", "policy/src/profile/language.rs"),
    ("Pass", "policy/src/pass.rs"),
    ("Trace", "policy/src/trace/document.rs"),
];

/// The schemas, by file name.
pub fn schemas() -> Vec<(String, String)> {
    let mut definitions = BTreeMap::new();
    for (prefix, file) in SOURCES {
        let text = fs::read_to_string(root().join(file)).expect("the source is readable");
        let parsed = syn::parse_file(&text).expect("the source is Rust");
        for item in &parsed.items {
            let (name, schema) = match item {
                Item::Struct(record) => (&record.ident, of_struct(record, prefix)),
                Item::Enum(choice) => (&choice.ident, of_enum(choice)),
                _ => continue,
            };
            if let Some(schema) = schema {
                definitions.insert(format!("{prefix}{name}"), schema);
            }
        }
    }
    definitions.extend(by_hand());
    let request = request();
    let answer = json!({
        "title": "An answer of evaluate-json, or the fault in its place",
        "anyOf": [
            {"description": "check", "$ref": "#/$defs/Verdict"},
            {"description": "decide", "$ref": "#/$defs/Decision"},
            {"description": "trace", "$ref": "#/$defs/Report"},
            {"description": "rules", "type": "array", "items": {"$ref": "#/$defs/RuleRecord"}},
            {
                "description": "profiles",
                "type": "array",
                "items": {"$ref": "#/$defs/ProfileRecord"},
            },
            {"description": "validate", "type": "array", "items": {"$ref": "#/$defs/Note"}},
            {"description": "infer", "$ref": "#/$defs/ProfileProfile"},
            {"description": "no answer", "$ref": "#/$defs/Fault"},
        ],
    });
    let reconcile = json!({"title": "One reconcile pass", "$ref": "#/$defs/PassDocument"});
    let trace = json!({"title": "A recorded queue history", "$ref": "#/$defs/TraceDocument"});
    let settings = json!({"title": "Settings", "$ref": "#/$defs/SettingsSettings"});
    let named = [
        ("answer.json", answer),
        ("queue-trace.json", trace),
        ("reconcile.json", reconcile),
        ("request.json", request),
        ("settings.json", settings),
    ];
    let write = |(name, schema): (&str, _)| (name.to_owned(), complete(schema, &definitions));
    named.into_iter().map(write).collect()
}

fn request() -> Value {
    let settings = json!({"$ref": "#/$defs/SettingsSettings"});
    let object = json!({"type": "object", "description": "A Kubernetes object."});
    let objects = json!({"type": ["array", "null"], "items": object});
    let time = json!({"type": ["string", "null"], "description": "RFC 3339."});
    let functions = [
        (
            "check",
            json!({
                "object": object, "old": {"type": ["object", "null"]}, "history": objects,
                "related": objects, "now": time, "settings": settings,
            }),
            vec!["object"],
        ),
        (
            "decide",
            json!({"pass": {"$ref": "#/$defs/PassDocument"}, "settings": settings}),
            vec!["pass"],
        ),
        (
            "trace",
            json!({"trace": {"$ref": "#/$defs/TraceDocument"}, "settings": settings}),
            vec!["trace"],
        ),
        ("rules", json!({}), vec![]),
        ("profiles", json!({"settings": settings}), vec![]),
        ("validate", json!({"settings": {"type": "object"}}), vec![]),
        ("infer", json!({"samples": {"type": "array", "items": object}}), vec!["samples"]),
    ];
    let choices: Vec<Value> = functions
        .into_iter()
        .map(|(name, arguments, required)| {
            json!({
                "type": "object",
                "additionalProperties": false,
                "required": [name],
                "properties": {name: {
                    "type": "object",
                    "additionalProperties": false,
                    "required": required,
                    "properties": arguments,
                }},
            })
        })
        .collect();
    json!({
        "title": "A request to evaluate-json: one key, the function's name",
        "oneOf": choices,
    })
}

/// What is read or written by code of its own.
fn by_hand() -> Vec<(String, Value)> {
    let flexible = |what: &str| json!({"type": ["string", "integer"], "description": what});
    let mut decision = json!({
        "type": "object",
        "description": "What a controller should return from one reconcile pass.",
        "additionalProperties": false,
        "required": ["action", "reason", "message", "findings"],
        "properties": {
            "action": {"enum": ["requeue", "after", "await", "stop"]},
            "delay": {"type": "integer", "minimum": 0, "description": "Milliseconds; of `after`."},
            "reason": {"type": "string"},
            "message": {"type": "string"},
            "findings": {"type": "array", "items": {"$ref": "#/$defs/Finding"}},
        },
    });
    decision["if"] = json!({"properties": {"action": {"const": "after"}}});
    decision["then"] = json!({"required": ["delay"]});
    decision["else"] = json!({"not": {"required": ["delay"]}});
    let fault = json!({
        "type": "object",
        "description": "Why there is no answer.",
        "additionalProperties": false,
        "required": ["fault", "message"],
        "properties": {
            "fault": {"enum": ["malformed", "unsupported", "internal"]},
            "message": {"type": "string"},
        },
    });
    let profile = json!({
        "type": "object",
        "description": "One kind of which the conventions are known.",
        "additionalProperties": false,
        "required": ["group", "kind", "origin", "document"],
        "properties": {
            "group": {"type": "string", "description": "API group; may begin with `*.`."},
            "kind": {"type": "string", "description": "Kind; `*` for every kind of the group."},
            "origin": {"enum": ["built-in", "settings"]},
            "document": {"$ref": "#/$defs/ProfileProfile"},
        },
    });
    vec![
        ("ProfileRecord".to_owned(), profile),
        ("Decision".to_owned(), decision),
        ("Fault".to_owned(), fault),
        // `off` without quotes is `false` in YAML.
        ("SettingsLevel".to_owned(), json!({"enum": ["off", "info", "warning", "error", false]})),
        ("Moment".to_owned(), flexible("A time (RFC 3339), a duration, or milliseconds.")),
        ("Span".to_owned(), flexible("A duration such as `1h30m`, or milliseconds.")),
        ("Time".to_owned(), json!({"type": "string", "description": "A time, RFC 3339."})),
        ("Truth".to_owned(), json!({"enum": ["True", "False", "Unknown", true, false]})),
    ]
}

/// The schema with the definitions that it needs, as text.
fn complete(mut schema: Value, definitions: &BTreeMap<String, Value>) -> String {
    let mut needed = Map::new();
    let mut open: Vec<String> = references(&schema);
    while let Some(name) = open.pop() {
        let definition = definitions.get(&name).unwrap_or_else(|| panic!("no type {name}"));
        if needed.insert(name, definition.clone()).is_none() {
            open.extend(references(definition));
        }
    }
    schema["$schema"] = json!("https://json-schema.org/draft/2020-12/schema");
    schema["$defs"] = Value::Object(needed);
    serde_json::to_string_pretty(&schema).expect("a schema is JSON") + "\n"
}

fn references(schema: &Value) -> Vec<String> {
    match schema {
        Value::Object(members) => {
            let own = members.get("$ref").and_then(Value::as_str);
            let own = own.and_then(|path| path.strip_prefix("#/$defs/")).map(str::to_owned);
            own.into_iter().chain(members.values().flat_map(references)).collect()
        }
        Value::Array(items) => items.iter().flat_map(references).collect(),
        _ => Vec::new(),
    }
}

/// The schema of a record that serde reads or writes.
fn of_struct(record: &syn::ItemStruct, prefix: &str) -> Option<Value> {
    let serde = Serde::read(&record.attrs)?;
    let Fields::Named(fields) = &record.fields else { return None };
    let mut properties = Map::new();
    let mut required = BTreeSet::new();
    for field in &fields.named {
        let own = Serde::read(&field.attrs).unwrap_or_default();
        let ident = field.ident.as_ref().expect("a named field").to_string();
        let name = own.rename.clone().unwrap_or_else(|| serde.cased(&ident));
        let (mut schema, optional) = of_type(&field.ty, prefix);
        if let Some(description) = documentation(&field.attrs) {
            schema["description"] = Value::from(description);
        }
        if !optional && !own.default && !serde.default && !own.skips {
            required.insert(name.clone());
        }
        properties.insert(name, schema);
    }
    if record.ident == "Document" {
        properties["apiVersion"] = json!({"const": "plumb.dev/v1alpha1"});
        let kind = if prefix == "Pass" { "Reconcile" } else { "QueueTrace" };
        properties["kind"] = json!({"const": kind});
    }
    let mut schema = json!({
        "type": "object",
        "additionalProperties": false,
        "properties": properties,
        "required": required,
    });
    if let Some(description) = documentation(&record.attrs) {
        schema["description"] = Value::from(description);
    }
    Some(schema)
}

/// The schema of a choice of words.
fn of_enum(choice: &syn::ItemEnum) -> Option<Value> {
    let serde = Serde::read(&choice.attrs)?;
    let mut words = Vec::new();
    for variant in &choice.variants {
        if !matches!(variant.fields, Fields::Unit) {
            return None;
        }
        let own = Serde::read(&variant.attrs).unwrap_or_default();
        words.push(own.rename.unwrap_or_else(|| serde.cased(&variant.ident.to_string())));
    }
    let mut schema = json!({"enum": words});
    if let Some(description) = documentation(&choice.attrs) {
        schema["description"] = Value::from(description);
    }
    Some(schema)
}

/// The schema of a field's type, and whether the field may be missing.
fn of_type(type_: &Type, prefix: &str) -> (Value, bool) {
    let path = match type_ {
        Type::Path(path) => path,
        Type::Reference(reference) => return of_type(&reference.elem, prefix),
        Type::Slice(slice) => {
            return (json!({"type": "array", "items": of_type(&slice.elem, prefix).0}), false);
        }
        _ => panic!("a type of another form"),
    };
    let last = path.path.segments.last().expect("a type has a name");
    let argument = || {
        let PathArguments::AngleBracketed(arguments) = &last.arguments else {
            panic!("{} has no argument", last.ident)
        };
        let first = arguments.args.iter().find_map(|argument| match argument {
            GenericArgument::Type(type_) => Some(type_),
            _ => None,
        });
        of_type(first.expect("a type"), prefix)
    };
    let schema = match last.ident.to_string().as_str() {
        "bool" => json!({"type": "boolean"}),
        "u32" => json!({"type": "integer", "minimum": 0}),
        "i16" | "i64" => json!({"type": "integer"}),
        "String" | "Text" | "str" => json!({"type": "string"}),
        "Json" => json!({"type": "object"}),
        "IgnoredAny" => json!({}),
        "Option" => {
            let (schema, _) = argument();
            if schema == json!({}) {
                return (schema, true);
            }
            return (json!({"anyOf": [schema, {"type": "null"}]}), true);
        }
        "Box" => return argument(),
        "Vec" => json!({"type": "array", "items": argument().0}),
        "Moment" if prefix == "Pass" => json!({"$ref": "#/$defs/Time"}),
        name @ ("Moment" | "Span" | "Truth") => json!({"$ref": format!("#/$defs/{name}")}),
        name @ ("Severity" | "Scope" | "Phase" | "Coherence" | "Ending" | "Note" | "Finding") => {
            json!({"$ref": format!("#/$defs/{name}")})
        }
        "OutcomeType" => json!({"$ref": "#/$defs/PassOutcomeType"}),
        "Profile" => json!({"$ref": "#/$defs/ProfileProfile"}),
        name => json!({"$ref": format!("#/$defs/{prefix}{name}")}),
    };
    (schema, false)
}

/// What serde is told of a type or a field.
#[derive(Default)]
struct Serde {
    rename: Option<String>,
    rename_all: Option<String>,
    default: bool,
    /// The field is left out where it is empty.
    skips: bool,
}

impl Serde {
    /// Nothing for a type that serde neither reads nor writes.
    fn read(attributes: &[Attribute]) -> Option<Self> {
        let derives = attributes.iter().any(|attribute| {
            attribute.path().is_ident("derive")
                && matches!(&attribute.meta, Meta::List(list)
                    if list.tokens.to_string().contains("erialize"))
        });
        let mut serde = Self::default();
        let mut told = derives;
        for attribute in attributes.iter().filter(|attribute| attribute.path().is_ident("serde")) {
            told = true;
            attribute
                .parse_nested_meta(|meta| {
                    let name = meta.path.get_ident().map(ToString::to_string).unwrap_or_default();
                    let mut value = None;
                    if meta.input.peek(syn::Token![=]) {
                        let literal: Lit = meta.value()?.parse()?;
                        if let Lit::Str(text) = literal {
                            value = Some(text.value());
                        }
                    } else if meta.input.peek(syn::token::Paren) {
                        meta.parse_nested_meta(|inner| inner.value()?.parse::<Lit>().map(|_| ()))?;
                    }
                    match name.as_str() {
                        "rename" => serde.rename = value,
                        "rename_all" => serde.rename_all = value,
                        "default" => serde.default = true,
                        "skip_serializing_if" => serde.skips = true,
                        _ => {}
                    }
                    Ok(())
                })
                .expect("an attribute of serde");
        }
        told.then_some(serde)
    }

    /// A name of the source as it stands in JSON.
    fn cased(&self, name: &str) -> String {
        let words: Vec<String> = if name.contains('_') || name.starts_with(char::is_lowercase) {
            name.trim_start_matches("r#").split('_').map(str::to_owned).collect()
        } else {
            let mut words: Vec<String> = Vec::new();
            for letter in name.chars() {
                match words.last_mut() {
                    Some(word) if !letter.is_uppercase() => word.push(letter),
                    _ => words.push(letter.to_lowercase().to_string()),
                }
            }
            words
        };
        match self.rename_all.as_deref() {
            Some("kebab-case") => words.join("-"),
            Some("lowercase") => words.concat(),
            Some("camelCase") => {
                let mut cased = String::new();
                for (place, word) in words.iter().enumerate() {
                    let (first, rest) = word.split_at(word.len().min(1));
                    cased += &if place == 0 { first.to_owned() } else { first.to_uppercase() };
                    cased += rest;
                }
                cased
            }
            _ => name.to_owned(),
        }
    }
}

/// The first paragraph of a documentation comment.
fn documentation(attributes: &[Attribute]) -> Option<String> {
    let lines: Vec<String> = attributes
        .iter()
        .filter_map(|attribute| match &attribute.meta {
            Meta::NameValue(pair) if pair.path.is_ident("doc") => match &pair.value {
                Expr::Lit(literal) => match &literal.lit {
                    Lit::Str(text) => Some(text.value().trim().to_owned()),
                    _ => None,
                },
                _ => None,
            },
            _ => None,
        })
        .collect();
    let paragraph: Vec<String> = lines.into_iter().take_while(|line| !line.is_empty()).collect();
    (!paragraph.is_empty()).then(|| paragraph.join(" "))
}
