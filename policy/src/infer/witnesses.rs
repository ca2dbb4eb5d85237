//! Messages that repeat the value of a status field.

use alloc::borrow::Cow;
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

use super::{leaves, owned};
use crate::object::{Condition, Object};
use crate::profile::Witness;
use crate::template::{self, Comparison};

/// A value shorter than this stands in a message by chance.
const SHORTEST: usize = 3;

/// A value at least this long stands in no message by chance, so that one sample is enough.
const TELLING: usize = 16;

/// The witnesses that the samples bear out: of one condition and reason, most messages repeat the
/// field, with different values or with one that no chance explains.
pub(super) fn propose(objects: &[Object<'_>]) -> Vec<Witness<'static>> {
    let mut groups: Vec<(&str, &str)> = Vec::new();
    for (_, condition) in messages(objects) {
        let key = (condition.type_, condition.reason);
        if !groups.contains(&key) {
            groups.push(key);
        }
    }
    groups.sort_unstable();
    let mut found: Vec<Witness<'static>> = Vec::new();
    for (type_, reason) in groups {
        let samples: Vec<_> = messages(objects)
            .filter(|(_, condition)| (condition.type_, condition.reason) == (type_, reason))
            .collect();
        let Some(text) = samples
            .iter()
            .flat_map(|(object, condition)| templates(object, condition.message))
            .map(|text| loosen(&text, &samples))
            .find(|text| is_borne_out(text, &samples))
        else {
            continue;
        };
        let reasons = if reason.is_empty() { Vec::new() } else { alloc::vec![owned(reason)] };
        found.push(Witness {
            condition: owned(type_),
            reasons,
            text: alloc::vec![owned(text)],
            ..Witness::default()
        });
    }
    found
}

/// The conditions at True that say something.
fn messages<'o, 'a>(
    objects: &'o [Object<'a>],
) -> impl Iterator<Item = (&'o Object<'a>, &'o Condition<'a>)> {
    objects.iter().flat_map(|object| {
        let telling = |condition: &&Condition<'_>| {
            // Braces are the template's own.
            condition.is_true()
                && !condition.message.is_empty()
                && !condition.message.contains(['{', '}'])
        };
        object.conditions().iter().filter(telling).map(move |condition| (object, condition))
    })
}

/// The templates that a message may come from, the best first: one for each of the paths at which
/// the longest repeated value stands.
fn templates(object: &Object<'_>, message: &str) -> Vec<String> {
    let mut repeated: Vec<(String, Cow<'_, str>, usize)> = leaves(object.status(), "status")
        .into_iter()
        .filter_map(|(path, leaf)| Some((path, leaf.scalar()?)))
        .filter(|(_, value)| value.len() >= SHORTEST && value != "true" && value != "false")
        .filter_map(|(path, value)| find(message, &value).map(|at| (path, value, at)))
        .collect();
    repeated.sort_by(|(path, value, _), (other_path, other, _)| {
        other.len().cmp(&value.len()).then((path.len(), path).cmp(&(other_path.len(), other_path)))
    });
    let Some(longest) = repeated.first().map(|(_, value, _)| value.to_string()) else {
        return Vec::new();
    };
    let leads = repeated.iter().filter(|(_, value, _)| **value == *longest);
    leads
        .map(|(path, value, at)| {
            let mut cuts: Vec<(usize, usize, &str)> =
                alloc::vec![(*at, at + value.len(), path.as_str())];
            for (path, value, at) in &repeated {
                let end = at + value.len();
                if cuts.iter().all(|&(from, to, _)| end <= from || to <= *at) {
                    cuts.push((*at, end, path));
                }
            }
            cuts.sort_unstable();
            let mut text = String::new();
            let mut done = 0;
            for (from, to, path) in cuts {
                text.push_str(&message[done..from]);
                text.push_str(&format!("{{{path}}}"));
                done = to;
            }
            text.push_str(&message[done..]);
            text
        })
        .collect()
}

/// Where `value` stands in `message` by itself, and not within a longer word.
fn find(message: &str, value: &str) -> Option<usize> {
    let within = |character: Option<char>| character.is_some_and(char::is_alphanumeric);
    message.match_indices(value).map(|(at, _)| at).find(|&at| {
        !within(message[..at].chars().next_back())
            && !within(message[at + value.len()..].chars().next())
    })
}

/// The template with `{*}` for words that differ from sample to sample.
fn loosen(text: &str, samples: &[(&Object<'_>, &Condition<'_>)]) -> String {
    let mut words: Vec<&str> = text.split(' ').collect();
    for (_, condition) in samples {
        let others: Vec<&str> = condition.message.split(' ').collect();
        if others.len() != words.len() {
            continue;
        }
        for (word, other) in words.iter_mut().zip(others) {
            if !word.contains('{') && *word != other && !word.contains(['\'', '"', '`']) {
                *word = "{*}";
            }
        }
    }
    words.join(" ")
}

fn is_borne_out(text: &str, samples: &[(&Object<'_>, &Condition<'_>)]) -> bool {
    let agreeing: Vec<_> = samples
        .iter()
        .filter(|(object, condition)| {
            template::compare(text, condition.message, object.root) == Comparison::Agrees
        })
        .collect();
    // A torn sample is what a witness is for, but most must be whole.
    if agreeing.len() * 2 <= samples.len() {
        return false;
    }
    let fields = template::pieces(text).into_iter().filter_map(|piece| match piece {
        template::Piece::Field(path, _) => Some(path.to_string()),
        template::Piece::Fixed(_) | template::Piece::Word | template::Piece::Any => None,
    });
    fields.into_iter().any(|path| {
        let mut values: Vec<Cow<'_, str>> =
            agreeing.iter().filter_map(|(object, _)| object.field(&path)?.scalar()).collect();
        values.sort();
        values.dedup();
        values.len() > 1 || values.iter().any(|value| value.len() >= TELLING)
    })
}
