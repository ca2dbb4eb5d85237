use super::*;
use crate::input::ItemKind;

/// `#number @line names` for a document, `#number @line! message` for an error.
fn read(bytes: impl Into<Vec<u8>>) -> Vec<String> {
    Documents::new("in", std::io::Cursor::new(bytes.into()))
        .map(|next| match next {
            Ok(document) => {
                let names: Vec<_> = document.items.iter().map(|item| name(&item.kind)).collect();
                format!("#{} @{} {}", document.number, document.line, names.join(" "))
            }
            Err(error) => format!(
                "#{} @{}! {}",
                error.document.unwrap_or(0),
                error.line.unwrap_or(0),
                error.message
            ),
        })
        .collect()
}

fn name(kind: &ItemKind) -> String {
    let ItemKind::Object(json) = kind else { return format!("{kind:?}") };
    let value: serde_json::Value = serde_json::from_str(json).unwrap();
    value["metadata"]["name"].as_str().unwrap().to_owned()
}

fn pod(name: &str) -> String {
    format!("apiVersion: v1\nkind: Pod\nmetadata: {{name: {name}}}\n")
}

fn json_pod(name: &str) -> String {
    format!(r#"{{"apiVersion":"v1","kind":"Pod","metadata":{{"name":"{name}"}}}}"#)
}

#[test]
fn a_bad_document_does_not_hide_the_others() {
    let text = format!("{}---\na: 1\nb: [\na: 2\n---\n\n{}", pod("a"), pod("b"));
    let found = read(text);
    assert_eq!(found.len(), 3, "{found:?}");
    assert_eq!(found[0], "#1 @1 a");
    assert!(found[1].starts_with("#2 @6! not YAML: unclosed bracket"), "{}", found[1]);
    assert_eq!(found[2], "#3 @10 b");
}

#[test]
fn a_duplicate_key_is_told_with_its_line() {
    let found = read(format!("{}---\n{}kind: Pod\n", pod("a"), pod("b")));
    assert_eq!(found[1], "#2 @8! not YAML: duplicate key `kind`");
}

#[test]
fn bad_parts_of_a_document_are_told_with_their_line() {
    let text = format!("kind: List\napiVersion: v1\nitems:\n- {}\n- 5\n", json_pod("a"));
    assert_eq!(
        read(text),
        ["#1 @1 a", "#1 @5! /items/1: expected a Kubernetes object, found a number",]
    );
}

#[test]
fn empty_documents_are_not_counted() {
    let text = format!("# nothing\n---\n---\nnull\n---\n~\n---\n# about a\n{}", pod("a"));
    assert_eq!(read(text), ["#1 @8 a"]);
}

#[test]
fn windows_line_ends_tabs_and_marks_are_read() {
    let text = format!("\u{feff}{}---\n{}# \ttab\n", pod("a"), pod("b")).replace('\n', "\r\n");
    assert_eq!(read(text), ["#1 @1 a", "#2 @5 b"]);
    let tab = read(format!("metadata:\n\tname: a\n---\n{}", pod("b")));
    assert!(tab[0].starts_with("#1 @1! not YAML: ") || tab[0].starts_with("#1 @2! not YAML: "));
    assert_eq!(tab[1], "#2 @4 b");
}

#[test]
fn bytes_that_are_no_text_are_told() {
    let mut bytes = format!("{}---\na: ", pod("a")).into_bytes();
    bytes.extend(b"b\nc: \xff\xfe\n---\n");
    bytes.extend(pod("b").into_bytes());
    assert_eq!(read(bytes), ["#1 @1 a", "#2 @6! not UTF-8; expected YAML or JSON", "#3 @8 b",]);
    let utf16: Vec<u8> = b"\xff\xfe".iter().copied().chain(*b"a\0:\0 \0b\0").collect();
    assert_eq!(read(utf16), ["#1 @1! not UTF-8 but UTF-16; expected YAML or JSON in UTF-8"]);
    assert_eq!(read(*b"\x1f\x8b\x08\0"), ["#1 @1! compressed by gzip; expected YAML or JSON"]);
}

#[test]
fn json_lines_are_read_past_what_is_broken() {
    let text = format!(
        "{}\n{{\"kind\":\"Po\n{}\nE0527 panic\n{} x\n{{\"a\":}}\n{}\n{{\"apiVersion\":",
        json_pod("a"),
        json_pod("b"),
        json_pod("c"),
        json_pod("d"),
    );
    assert_eq!(
        read(text),
        [
            "#1 @1 a",
            "#2 @2! not JSON: control character (\\u0000-\\u001F) found while parsing a string",
            "#3 @3 b",
            "#4 @4! expected a JSON value or `---` behind the last one",
            "#5 @5 c",
            "#6 @5! expected a JSON value or `---` behind the last one",
            "#7 @6! expected apiVersion and kind of a Kubernetes object, found a mapping of a",
            "#8 @7 d",
            "#9 @8! the JSON value is cut off: EOF while parsing a value",
        ]
    );
}

#[test]
fn a_repeated_field_of_json_is_told() {
    let text = r#"{"apiVersion":"v1","kind":"Pod","kind":"Job","metadata":{"name":"a"}}"#;
    assert_eq!(read(text), ["#1 @1! duplicate field `kind`"]);
}

#[test]
fn flow_style_is_read_as_yaml() {
    let text = "{\"apiVersion\": v1, \"kind\": Pod, 'metadata': {name: a,}}\n---\n{apiVersion: v1, kind: Pod, metadata: {name: b}}\n";
    assert_eq!(read(text), ["#1 @1 a", "#2 @3 b"]);
}

#[test]
fn many_documents_and_long_ones_are_read() {
    let many: Vec<_> = (0..1_025).map(|index| pod(&format!("p{index}"))).collect();
    let found = read(many.join("---\n"));
    assert_eq!(found.len(), 1_025);
    assert_eq!(found[1_024], "#1025 @4097 p1024");

    let mut long = String::from("kind: List\napiVersion: v1\nitems:\n");
    let mut count = 0;
    while long.len() < 10 << 20 {
        let filler = "x".repeat(10_000);
        let item = format!(
            "- apiVersion: v1\n  kind: Pod\n  metadata: {{name: p}}\n  status: {{message: {filler}}}\n"
        );
        long.push_str(&item);
        count += 1;
    }
    let names = vec!["p"; count].join(" ");
    assert!(read(long) == [format!("#1 @1 {names}")], "a List of 10 MB was not read whole");
}

#[test]
fn secrets_are_not_kept() {
    let json = r#"{"type":"ADDED","object":{"apiVersion":"v1","kind":"Secret","metadata":{"name":"s"},"data":{"password":"hunter2"}}}"#;
    let yaml = "apiVersion: v1\nkind: Secret\nmetadata: {name: s}\nstringData:\n  password: |\n    hunter2\n";
    for text in [json, yaml] {
        let documents: Vec<_> =
            Documents::new("in", std::io::Cursor::new(text)).collect::<Result<_, _>>().unwrap();
        assert_eq!(documents.len(), 1);
        assert_eq!(documents[0].text.len(), text.len());
        let everything = format!("{documents:?}");
        assert!(!everything.contains("hunter2"), "{everything}");
        assert!(everything.contains("password"), "{everything}");
    }
}

#[test]
fn an_input_that_cannot_be_read_on_ends() {
    struct Fails(bool);
    impl Read for Fails {
        fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
            if std::mem::replace(&mut self.0, true) {
                return Err(std::io::Error::other("gone"));
            }
            let text = format!("{}---\n", pod("a"));
            buffer[..text.len()].copy_from_slice(text.as_bytes());
            Ok(text.len())
        }
    }
    let mut documents = Documents::new("in", Fails(false));
    assert!(documents.next().unwrap().is_ok());
    let error = documents.next().unwrap().unwrap_err();
    assert_eq!(error.to_string(), "in: failed to read: gone");
    assert!(documents.next().is_none());
}
