//! JSON as YAML for people to read and edit: keys keep their order.

use std::fmt::{self, Formatter};

use serde::de::{Deserialize, Deserializer, Error, MapAccess, SeqAccess, Visitor};

/// Lists of scalars that fit into so many columns stand on one line.
const LINE_WIDTH: usize = 100;

/// Returns JSON text as YAML, ending with a line break.
///
/// # Errors
/// If the text is not JSON.
pub fn from_json(json: &str) -> serde_json::Result<String> {
    let node: Node = serde_json::from_str(json)?;
    let mut text = String::new();
    match &node {
        Node::Map(entries) if !entries.is_empty() => map(entries, 0, &mut text),
        Node::List(items) if !items.is_empty() => list(items, 0, &mut text),
        node => text += &format!("{}\n", flow(node)),
    }
    Ok(text)
}

enum Node {
    /// As it is written in YAML.
    Scalar(String),
    List(Vec<Node>),
    Map(Vec<(String, Node)>),
}

fn map(entries: &[(String, Node)], indent: usize, text: &mut String) {
    for (index, (key, value)) in entries.iter().enumerate() {
        if index > 0 || !text.ends_with("- ") {
            text.push_str(&" ".repeat(indent));
        }
        text.push_str(key);
        text.push(':');
        match value {
            Node::Map(entries) if !entries.is_empty() => {
                text.push('\n');
                map(entries, indent + 2, text);
            }
            Node::List(items) if !fits(items, indent + key.len()) => {
                text.push('\n');
                list(items, indent, text);
            }
            value => *text += &format!(" {}\n", flow(value)),
        }
    }
}

fn list(items: &[Node], indent: usize, text: &mut String) {
    for (index, item) in items.iter().enumerate() {
        if index > 0 || !text.ends_with("- ") {
            text.push_str(&" ".repeat(indent));
        }
        text.push_str("- ");
        match item {
            Node::Map(entries) if !entries.is_empty() => map(entries, indent + 2, text),
            Node::List(items) if !items.is_empty() => list(items, indent + 2, text),
            item => *text += &format!("{}\n", flow(item)),
        }
    }
}

/// Whether a list can stand on one line.
fn fits(items: &[Node], before: usize) -> bool {
    let scalars = items.iter().map(|item| match item {
        Node::Scalar(text) => Some(text.chars().count() + 2),
        Node::List(_) | Node::Map(_) => None,
    });
    scalars.sum::<Option<usize>>().is_some_and(|width| before + 4 + width <= LINE_WIDTH)
}

/// On one line.
fn flow(node: &Node) -> String {
    match node {
        Node::Scalar(text) => text.clone(),
        Node::List(items) => {
            format!("[{}]", items.iter().map(flow).collect::<Vec<_>>().join(", "))
        }
        Node::Map(entries) => {
            let entries: Vec<_> =
                entries.iter().map(|(key, value)| format!("{key}: {}", flow(value))).collect();
            format!("{{{}}}", entries.join(", "))
        }
    }
}

/// A string as YAML 1.1 and 1.2 both read it: plain where nothing else can be meant, else quoted
/// as in JSON.
fn string(text: &str) -> String {
    let first = |c: char| c.is_ascii_alphabetic() || c == '/' || c == '_';
    let rest = |c: char| c.is_alphanumeric() || " _-./+$%()".contains(c);
    let words = ["true", "false", "yes", "no", "on", "off", "y", "n", "null"];
    let plain = text.starts_with(first)
        && text.chars().all(rest)
        && !text.ends_with(' ')
        && !words.contains(&text.to_ascii_lowercase().as_str());
    if plain { text.to_owned() } else { serde_json::Value::from(text).to_string() }
}

impl<'de> Deserialize<'de> for Node {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(NodeVisitor)
    }
}

struct NodeVisitor;

impl<'de> Visitor<'de> for NodeVisitor {
    type Value = Node;

    fn expecting(&self, formatter: &mut Formatter<'_>) -> fmt::Result {
        formatter.write_str("JSON")
    }

    fn visit_bool<E: Error>(self, value: bool) -> Result<Node, E> {
        Ok(Node::Scalar(value.to_string()))
    }

    fn visit_i64<E: Error>(self, value: i64) -> Result<Node, E> {
        Ok(Node::Scalar(value.to_string()))
    }

    fn visit_u64<E: Error>(self, value: u64) -> Result<Node, E> {
        Ok(Node::Scalar(value.to_string()))
    }

    fn visit_f64<E: Error>(self, value: f64) -> Result<Node, E> {
        Ok(Node::Scalar(serde_json::Value::from(value).to_string()))
    }

    fn visit_str<E: Error>(self, value: &str) -> Result<Node, E> {
        Ok(Node::Scalar(string(value)))
    }

    fn visit_unit<E: Error>(self) -> Result<Node, E> {
        Ok(Node::Scalar("null".to_owned()))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut access: A) -> Result<Node, A::Error> {
        let mut items = Vec::new();
        while let Some(item) = access.next_element()? {
            items.push(item);
        }
        Ok(Node::List(items))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut access: A) -> Result<Node, A::Error> {
        let mut entries = Vec::new();
        while let Some((key, value)) = access.next_entry::<String, Node>()? {
            entries.push((string(&key), value));
        }
        Ok(Node::Map(entries))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_keep_their_order_and_short_lists_their_line() {
        let json = r#"{"kinds":["Widget"],"group":"example.com","generation":{"absent":true},
            "witnesses":[{"condition":"Ready","text":["for '{status.a}'"]}],"none":[],"map":{},
            "matrix":[[1,2.5],[null]]}"#;
        let yaml = "kinds: [Widget]\ngroup: example.com\ngeneration:\n  absent: true\n\
                    witnesses:\n- condition: Ready\n  text: [\"for '{status.a}'\"]\nnone: []\n\
                    map: {}\nmatrix:\n- - 1\n  - 2.5\n- - null\n";
        assert_eq!(from_json(json).unwrap(), yaml);
    }

    #[test]
    fn what_is_a_string_stays_a_string() {
        for text in ["", "true", "No", "1.0", "0777", "a: b", "a #b", "- a", "*a", "~", "a\nb", "é"]
        {
            let json = serde_json::to_string(text).unwrap();
            assert_eq!(from_json(&json).unwrap(), format!("{json}\n"), "{text}");
        }
        assert_eq!(from_json("\"status.artifact/x\"").unwrap(), "status.artifact/x\n");
    }

    #[test]
    fn what_is_written_reads_as_what_it_was() {
        let json = r#"[{"a":{"b":[{"c":"y","d":[]}],"1":"1"},"e f":"g","k: v":["x",true,-3,1.5,null]},"z"]"#;
        let value: serde_json::Value = serde_json::from_str(json).unwrap();
        let read: serde_json::Value = serde_saphyr::from_str(&from_json(json).unwrap()).unwrap();
        assert_eq!(read, value);
    }
}
