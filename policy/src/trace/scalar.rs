//! Values that a document writes in more than one way.

use alloc::format;
use alloc::string::{String, ToString};
use core::fmt;

use serde::Deserialize;
use serde::de::{Deserializer, Error, Visitor};

use crate::time::{self, Time};

/// The status of a condition.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Truth {
    /// `True`.
    True,
    /// `False`.
    False,
    /// `Unknown`.
    Unknown,
}

impl fmt::Display for Truth {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::True => "True",
            Self::False => "False",
            Self::Unknown => "Unknown",
        })
    }
}

/// A span in milliseconds. A positive one below a millisecond is one millisecond.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Span(pub i64);

/// A point in time: since the start, or on the calendar.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Moment {
    /// Milliseconds since the start.
    Since(i64),
    /// On the calendar.
    On(Time),
}

impl Span {
    /// The span that `text` names, as Go writes durations.
    pub fn parse(text: &str) -> Option<Self> {
        let millis = time::duration(text)?;
        let is_zero = !text.bytes().any(|byte| byte.is_ascii_digit() && byte != b'0');
        Some(match millis {
            0 if is_zero => Self(0),
            0 if text.starts_with('-') => Self(-1),
            0 => Self(1),
            millis => Self(millis),
        })
    }
}

impl<'de> Deserialize<'de> for Span {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        match deserializer.deserialize_any(Scalar)? {
            Read::Number(millis) => Ok(Self(millis)),
            Read::Text(text) => Self::parse(&text).ok_or_else(|| {
                D::Error::custom(format!("`{text}` is not a duration such as `1h30m` or `750ms`"))
            }),
            Read::Bool(_) => Err(D::Error::custom("expected a duration such as `1h30m`")),
        }
    }
}

impl<'de> Deserialize<'de> for Moment {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        match deserializer.deserialize_any(Scalar)? {
            Read::Number(millis) => Ok(Self::Since(millis)),
            Read::Text(text) => Time::parse(&text)
                .map(Self::On)
                .or_else(|| Span::parse(&text).map(|span| Self::Since(span.0)))
                .ok_or_else(|| {
                    let expected = "a duration such as `1.5s` nor a time such as \
                                    `2026-03-15T11:09:35Z`";
                    D::Error::custom(format!("`{text}` is neither {expected}"))
                }),
            Read::Bool(_) => Err(D::Error::custom("expected a time or a duration")),
        }
    }
}

impl<'de> Deserialize<'de> for Truth {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let expected = "expected `True`, `False` or `Unknown`";
        match deserializer.deserialize_any(Scalar)? {
            Read::Bool(true) => Ok(Self::True),
            Read::Bool(false) => Ok(Self::False),
            Read::Number(_) => Err(D::Error::custom(expected)),
            Read::Text(text) => match text.as_str() {
                "True" => Ok(Self::True),
                "False" => Ok(Self::False),
                "Unknown" => Ok(Self::Unknown),
                _ => Err(D::Error::custom(format!("`{text}`: {expected}"))),
            },
        }
    }
}

enum Read {
    Bool(bool),
    Number(i64),
    Text(String),
}

struct Scalar;

impl Visitor<'_> for Scalar {
    type Value = Read;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a string or a number")
    }

    fn visit_bool<E>(self, value: bool) -> Result<Read, E> {
        Ok(Read::Bool(value))
    }

    fn visit_i64<E>(self, number: i64) -> Result<Read, E> {
        Ok(Read::Number(number))
    }

    fn visit_u64<E: Error>(self, number: u64) -> Result<Read, E> {
        i64::try_from(number).map(Read::Number).map_err(E::custom)
    }

    fn visit_str<E>(self, text: &str) -> Result<Read, E> {
        Ok(Read::Text(text.to_string()))
    }
}
