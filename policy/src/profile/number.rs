//! Numbers as the tests of profiles write them: `spec.replicas|1 - status.surge`,
//! `count(spec.clusters[*])`, `sum(spec.nodeSets[*].count)`, `3`.

use alloc::vec::Vec;

use crate::json::Json;

/// The number that `text` names; `default` stands for a missing field that names no other.
pub fn value<'j>(text: &str, default: i64, find_all: &dyn Fn(&str) -> Vec<&'j Json<'j>>) -> i64 {
    let mut total = 0_i64;
    for (sign, term) in terms(text) {
        let number = one(term, default, find_all);
        total = total.saturating_add(sign.saturating_mul(number));
    }
    total
}

/// The first field path in `text`; empty if there is none.
pub fn first_path(text: &str) -> &str {
    terms(text).map(|(_, term)| path(term)).find(|path| !path.is_empty()).unwrap_or("")
}

/// Every field path in `text`.
pub fn paths(text: &str) -> impl Iterator<Item = &str> {
    terms(text).map(|(_, term)| path(term)).filter(|path| !path.is_empty())
}

/// The terms of a sum, each with 1 or -1.
fn terms(text: &str) -> impl Iterator<Item = (i64, &str)> {
    let mut rest = Some(text);
    let mut sign = 1;
    core::iter::from_fn(move || {
        let text = rest?;
        let cut = [" - ", " + "].into_iter().filter_map(|mark| text.find(mark)).min();
        let this = sign;
        let term = if let Some(at) = cut {
            sign = if text[at..].starts_with(" - ") { -1 } else { 1 };
            rest = Some(&text[at + 3..]);
            &text[..at]
        } else {
            rest = None;
            text
        };
        Some((this, term.trim()))
    })
}

fn path(term: &str) -> &str {
    let inside = |name: &str| term.strip_prefix(name)?.strip_suffix(')');
    let path = inside("count(").or_else(|| inside("sum(")).unwrap_or(term);
    let path = path.split_once('|').map_or(path, |(path, _)| path);
    if path.parse::<i64>().is_ok() { "" } else { path }
}

fn one<'j>(term: &str, default: i64, find_all: &dyn Fn(&str) -> Vec<&'j Json<'j>>) -> i64 {
    if let Ok(number) = term.parse() {
        return number;
    }
    if term.starts_with("count(") {
        return i64::try_from(find_all(path(term)).len()).unwrap_or(i64::MAX);
    }
    if term.starts_with("sum(") {
        return find_all(path(term)).into_iter().filter_map(Json::integer).sum();
    }
    let missing = term.split_once('|').and_then(|(_, number)| number.parse().ok());
    let found = find_all(path(term)).into_iter().next().and_then(Json::integer);
    found.or(missing).unwrap_or(default)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pointer;

    #[test]
    fn numbers_are_sums_of_fields_and_integers() {
        let root = Json::parse(r#"{"a":5,"b":2,"l":[{"n":1},{"n":4},{}],"m":{"x":1,"y":2}}"#)
            .expect("valid");
        let find_all =
            |path: &str| pointer::find_all(&root, path).into_iter().map(|(_, v)| v).collect();
        let number = |text| value(text, 7, &find_all);
        assert_eq!(number("3"), 3);
        assert_eq!(number("a - b"), 3);
        assert_eq!(number("a + b - 1"), 6);
        assert_eq!(number("z"), 7);
        assert_eq!(number("z|1 - z"), -6);
        assert_eq!(number("count(l[*])"), 3);
        assert_eq!(number("sum(l[*].n)"), 5);
        assert_eq!(number("count(m[*])"), 2);
        assert_eq!(first_path("3 + count(l[*]) - a|1"), "l[*]");
        assert_eq!(paths("3 + count(l[*]) - a|1").collect::<Vec<_>>(), ["l[*]", "a"]);
    }
}
