//! How things are called.

use crate::engine::Scope;
use crate::replay::result::{Decided, End, Judged};

/// Prose is not wider than this many columns.
pub(crate) const PROSE_WIDTH: usize = 100;

/// `1 object`, `2 objects`.
pub(crate) fn count(number: usize, thing: &str) -> String {
    let (noun, rest) =
        thing.split_once(' ').map_or((thing, ""), |(noun, _)| (noun, &thing[noun.len()..]));
    let plural = if noun.ends_with("ss") { "es" } else { "s" };
    format!("{number} {noun}{}{rest}", if number == 1 { "" } else { plural })
}

/// `GitRepository default/app`; what it is instead where there is no object.
pub(crate) fn object(judged: &Judged) -> String {
    match (judged.kind.as_str(), judged.namespace.as_str(), judged.name.as_str()) {
        ("", _, "") => judged.scope.name().to_owned(),
        (kind, _, "") => kind.to_owned(),
        (kind, "", name) => format!("{kind} {name}").trim_start().to_owned(),
        (kind, namespace, name) => format!("{kind} {namespace}/{name}").trim_start().to_owned(),
    }
}

/// `GitRepository default/app, resourceVersion 2292287`.
pub(crate) fn state(judged: &Judged) -> String {
    match judged.resource_version.as_str() {
        "" => object(judged),
        version => format!("{}, resourceVersion {version}", object(judged)),
    }
}

/// [`state`] with what was judged of it: the name of a test case.
pub(crate) fn case(judged: &Judged) -> String {
    match judged.scope {
        Scope::State => state(judged),
        scope => format!("{} ({scope})", state(judged)),
    }
}

/// `FILE` of `FILE#DOC`.
pub(crate) fn file(input: &str) -> &str {
    input.rsplit_once('#').map_or(input, |(file, _)| file)
}

/// Text from an input without what could steer a terminal or end a line.
pub(crate) fn clean(text: &str) -> String {
    annotate_snippets::normalize_untrusted_str(text).replace(['\n', '\r', '\u{240d}'], " ")
}

/// JSON Pointer as people who use kubectl write it: `status.conditions[0].reason`.
pub(crate) fn field(pointer: &str) -> String {
    let mut text = String::new();
    for token in pointer.split('/').skip(1) {
        let key = token.replace("~1", "/").replace("~0", "~");
        if !key.is_empty() && key.bytes().all(|byte| byte.is_ascii_digit()) {
            text += &format!("[{key}]");
        } else if key.contains(['.', '/', ' ', '[']) || key.is_empty() {
            text += &format!("['{key}']");
        } else {
            if !text.is_empty() {
                text.push('.');
            }
            text += &key;
        }
    }
    text
}

/// What must happen next, as a sentence's end.
pub(crate) fn action(decided: &Decided) -> String {
    match decided.action {
        "requeue" => "reconcile again at once".to_owned(),
        "after" => format!("reconcile again after {}", delay(decided.delay.unwrap_or_default())),
        "await" => "wait for a change".to_owned(),
        "stop" => "wait for a new spec".to_owned(),
        other => other.to_owned(),
    }
}

/// How a trace ends, as a sentence's end.
pub(crate) fn end(end: &End) -> String {
    match (end.state, &end.until, end.lost_at) {
        (state, Some(until), _) => format!("{state} until {until}"),
        (state, _, Some(event)) => format!("{state}, its wake-up lost at event {event}"),
        (state, None, None) => state.to_owned(),
    }
}

/// A duration as Kubernetes writes it: `1h30m`, `250ms`.
pub(crate) fn delay(milliseconds: u32) -> String {
    let (hours, rest) = (milliseconds / 3_600_000, milliseconds % 3_600_000);
    let (minutes, rest) = (rest / 60_000, rest % 60_000);
    let (seconds, rest) = (rest / 1000, rest % 1000);
    let mut text = String::new();
    for (number, unit) in [(hours, "h"), (minutes, "m"), (seconds, "s"), (rest, "ms")] {
        if number > 0 {
            text += &format!("{number}{unit}");
        }
    }
    if text.is_empty() { "0s".to_owned() } else { text }
}

/// The text's begin, if it is longer than so many characters.
pub(crate) fn clip(text: &str, characters: usize) -> String {
    match text.char_indices().nth(characters) {
        None => text.to_owned(),
        Some(_) => text.chars().take(characters.saturating_sub(1)).chain(['…']).collect(),
    }
}

/// Breaks text at spaces so that no line is longer than `width` columns, where words allow.
pub(crate) fn wrap(text: &str, width: usize) -> Vec<String> {
    let mut lines = vec![String::new()];
    for word in text.split_whitespace() {
        let line = lines.last_mut().expect("there is always a line");
        if line.is_empty() {
            line.push_str(word);
        } else if line.chars().count() + 1 + word.chars().count() <= width {
            line.push(' ');
            line.push_str(word);
        } else {
            lines.push(word.to_owned());
        }
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_read_as_kubectl_users_write_them() {
        assert_eq!(field("/status/conditions/0/reason"), "status.conditions[0].reason");
        assert_eq!(
            field("/metadata/annotations/reconcile.fluxcd.io~1requestedAt"),
            "metadata.annotations['reconcile.fluxcd.io/requestedAt']"
        );
        assert_eq!(field(""), "");
    }

    #[test]
    fn delays_read_as_kubernetes_durations() {
        assert_eq!(delay(5_400_000), "1h30m");
        assert_eq!(delay(1_250), "1s250ms");
        assert_eq!(delay(0), "0s");
    }

    #[test]
    fn counts_agree_with_their_nouns() {
        assert_eq!(count(1, "pass"), "1 pass");
        assert_eq!(count(2, "pass"), "2 passes");
        assert_eq!(count(0, "error"), "0 errors");
        assert_eq!(count(2, "document of kind A"), "2 documents of kind A");
    }

    #[test]
    fn an_input_is_a_file_and_a_document() {
        assert_eq!(file("a#b.yaml#3"), "a#b.yaml");
        assert_eq!(file("plain"), "plain");
    }

    #[test]
    fn text_from_inputs_cannot_steer_the_terminal() {
        assert_eq!(clean("a\u{1b}[31mb\nc"), "a\u{241b}[31mb c");
    }

    #[test]
    fn wrapped_lines_keep_within_the_width() {
        assert_eq!(wrap("a bb ccc dddd", 6), ["a bb", "ccc", "dddd"]);
        assert_eq!(wrap("unbreakable-word x", 4), ["unbreakable-word", "x"]);
    }
}
