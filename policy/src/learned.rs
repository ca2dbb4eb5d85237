//! Witnesses that nobody wrote down: a message that named the value of a field in one state is taken
//! to name it in the next one too.

use alloc::string::String;
use alloc::vec::Vec;

use crate::json::Json;
use crate::object::Object;
use crate::pointer;
use crate::time::{self, Time};

/// A field of the status whose value a message names.
#[derive(Debug, Clone)]
pub struct Learned<'r> {
    /// JSON Pointer of the field.
    pub pointer: String,
    /// Its value.
    pub value: &'r str,
}

/// Every field of the status, outside the conditions, whose value `message` names.
pub fn fields<'r>(object: &Object<'r>, message: &str) -> Vec<Learned<'r>> {
    let mut found = Vec::new();
    let status: &'r Json<'_> = object.status();
    collect(status, String::from("/status"), &mut |pointer, value| {
        if is_revision(value) && names(message, value) {
            found.push(Learned { pointer, value });
        }
    });
    found
}

/// Whether any field of the status, outside the conditions, holds `value`.
pub fn holds(object: &Object<'_>, value: &str) -> bool {
    let mut held = false;
    collect(object.status(), String::new(), &mut |_, text| held |= text.contains(value));
    held
}

fn collect<'r>(json: &'r Json<'_>, at: String, take: &mut dyn FnMut(String, &'r str)) {
    match json {
        Json::String(text) => take(at, text),
        Json::Object(members) => {
            for (key, value) in members.iter().filter(|(key, _)| key != "conditions") {
                let mut place = at.clone();
                pointer::push(&mut place, key);
                collect(value, place, take);
            }
        }
        Json::Array(items) => {
            for (index, item) in items.iter().enumerate() {
                collect(item, alloc::format!("{at}/{index}"), take);
            }
        }
        Json::Null | Json::Bool(_) | Json::Integer(_) | Json::Unsigned(_) | Json::Float(_) => {}
    }
}

/// Whether `text` names `value`: nothing that could belong to it before and after.
pub fn names(text: &str, value: &str) -> bool {
    let part = |character: char| {
        character.is_ascii_alphanumeric() || matches!(character, '-' | '_' | '@' | '+' | '/')
    };
    text.match_indices(value).any(|(at, found)| {
        let after = text[at + found.len()..].trim_start_matches('.');
        !text[..at].chars().next_back().is_some_and(part)
            && !after
                .chars()
                .next()
                .is_some_and(|next| part(next) && text[at + found.len()..].starts_with(next))
    })
}

/// Whether a value looks like a revision, a digest or a version: a hash of seven characters or more,
/// or three numbers with dots between. Times and durations are none.
pub fn is_revision(value: &str) -> bool {
    if value.contains(char::is_whitespace)
        || Time::parse(value).is_some()
        || time::duration(value).is_some()
        || value.contains("://")
    {
        return false;
    }
    let hash = value.split(|c: char| !c.is_ascii_hexdigit()).any(|run| {
        run.len() >= 7
            && run.bytes().any(|byte| byte.is_ascii_digit())
            && run.bytes().any(|byte| byte.is_ascii_alphabetic())
    });
    hash || is_version(value)
}

fn is_version(value: &str) -> bool {
    let core = value.trim_start_matches('v');
    let core = core.split(['-', '+', '@']).next().unwrap_or(core);
    let mut numbers = 0;
    core.split('.').all(|part| {
        numbers += 1;
        !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit())
    }) && numbers == 3
}

/// The word that stands in `new` where `value` stands in `old`, if the rest of both is the same.
pub fn replaced<'t>(old: &str, new: &'t str, value: &str) -> Option<&'t str> {
    let at = old.find(value)?;
    let (before, after) = (&old[..at], &old[at + value.len()..]);
    let word = new.strip_prefix(before)?.strip_suffix(after)?;
    (word != value && is_revision(word)).then_some(word)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn revisions_are_told_from_words_times_and_counts() {
        for (value, wanted) in [
            ("main@sha1:00ca386d43834c41d9626b6d93137d396fd771ed", true),
            ("sha256:aaaaaaa1", true),
            ("v1.31.4", true),
            ("12.10.3", true),
            ("1.2.3+4f2e", true),
            ("2026-01-01T00:00:00Z", false),
            ("5m30s", false),
            ("running", false),
            ("10.0.0.12", false),
            ("deadbeef", false),
            ("https://example.com/deadbee1", false),
        ] {
            assert_eq!(is_revision(value), wanted, "{value}");
        }
    }

    #[test]
    fn a_value_is_named_whole() {
        assert!(names("applied revision v1.31.4.", "v1.31.4"));
        assert!(names("applied 'v1.31.4'", "v1.31.4"));
        assert!(!names("applied v1.31.40", "v1.31.4"));
        assert!(!names("applied main@v1.31.4", "v1.31.4"));
    }

    #[test]
    fn what_replaces_a_value_stands_in_the_same_words() {
        assert_eq!(replaced("at v1.31.4 now", "at v1.31.5 now", "v1.31.4"), Some("v1.31.5"));
        assert_eq!(replaced("at v1.31.4 now", "was v1.31.5 now", "v1.31.4"), None);
        assert_eq!(replaced("at v1.31.4 now", "at rest now", "v1.31.4"), None);
    }
}
