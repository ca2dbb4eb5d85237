//! The small language of conditions: `!(app.ready && app.attempted == event.revision)`.

use std::fmt;

/// A condition as written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Ast {
    Or(Vec<Ast>),
    And(Vec<Ast>),
    Not(Box<Ast>),
    Compare(Atom, Comparison, Atom),
    /// A field with the values `true` and `false`, or one of these words.
    Test(Atom),
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Atom {
    /// `object.field`
    Field(String, String),
    Number(u8),
    /// A value of a field that lists its values.
    Label(String),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Comparison {
    Equal,
    NotEqual,
    Less,
    AtMost,
    Greater,
    AtLeast,
}

impl Comparison {
    pub(super) fn holds(self, left: u8, right: u8) -> bool {
        match self {
            Self::Equal => left == right,
            Self::NotEqual => left != right,
            Self::Less => left < right,
            Self::AtMost => left <= right,
            Self::Greater => left > right,
            Self::AtLeast => left >= right,
        }
    }

    /// Whether it asks for an order, which only numbers have.
    pub(super) fn is_order(self) -> bool {
        !matches!(self, Self::Equal | Self::NotEqual)
    }
}

impl fmt::Display for Atom {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Field(object, field) => write!(f, "{object}.{field}"),
            Self::Number(number) => write!(f, "{number}"),
            Self::Label(label) => f.write_str(label),
        }
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Token {
    Atom(Atom),
    Or,
    And,
    Not,
    Open,
    Close,
    Comparison(Comparison),
}

/// Parses a condition.
///
/// # Errors
/// What was expected, and at which character.
pub(super) fn parse(text: &str) -> Result<Ast, String> {
    let tokens = tokens(text)?;
    let mut parser = Parser { tokens: &tokens, end: text.chars().count() };
    let ast = parser.or()?;
    match parser.tokens.first() {
        None => Ok(ast),
        Some((at, _)) => Err(format!("expected `&&`, `||` or the end at character {}", at + 1)),
    }
}

/// Parses one value: a number, a label or a field.
///
/// # Errors
/// The text is none of these.
pub(super) fn parse_atom(text: &str) -> Result<Atom, String> {
    match &*tokens(text)? {
        [(_, Token::Atom(atom))] => Ok(atom.clone()),
        _ => Err(format!("expected a number, a value or `object.field`, found `{text}`")),
    }
}

/// Characters of a condition; it also bounds how deep parentheses can nest.
const MAX_LENGTH: usize = 1000;

fn tokens(text: &str) -> Result<Vec<(usize, Token)>, String> {
    let chars: Vec<char> = text.chars().collect();
    if chars.len() > MAX_LENGTH {
        return Err(format!("longer than {MAX_LENGTH} characters"));
    }
    let mut tokens = vec![];
    let mut at = 0;
    while at < chars.len() {
        let rest = &chars[at..];
        let (token, width) = match rest {
            [c, ..] if c.is_whitespace() => {
                at += 1;
                continue;
            }
            ['|', '|', ..] => (Token::Or, 2),
            ['&', '&', ..] => (Token::And, 2),
            ['=', '=', ..] => (Token::Comparison(Comparison::Equal), 2),
            ['!', '=', ..] => (Token::Comparison(Comparison::NotEqual), 2),
            ['<', '=', ..] => (Token::Comparison(Comparison::AtMost), 2),
            ['>', '=', ..] => (Token::Comparison(Comparison::AtLeast), 2),
            ['<', ..] => (Token::Comparison(Comparison::Less), 1),
            ['>', ..] => (Token::Comparison(Comparison::Greater), 1),
            ['!', ..] => (Token::Not, 1),
            ['(', ..] => (Token::Open, 1),
            [')', ..] => (Token::Close, 1),
            [c, ..] if c.is_alphanumeric() => {
                let width = rest.iter().take_while(|c| is_word(**c)).count();
                let word: String = rest[..width].iter().collect();
                (Token::Atom(atom(&word, at)?), width)
            }
            [c, ..] => return Err(format!("unexpected `{c}` at character {}", at + 1)),
            [] => break,
        };
        tokens.push((at, token));
        at += width;
    }
    Ok(tokens)
}

fn is_word(c: char) -> bool {
    c.is_alphanumeric() || matches!(c, '_' | '-' | '.')
}

fn atom(word: &str, at: usize) -> Result<Atom, String> {
    if word.chars().all(|c| c.is_ascii_digit()) {
        let number = word.parse().ok().filter(|n| *n <= MAX_NUMBER);
        let number = number.ok_or_else(|| format!("`{word}` is above {MAX_NUMBER}"))?;
        return Ok(Atom::Number(number));
    }
    match *word.split('.').collect::<Vec<_>>() {
        [label] => Ok(Atom::Label(label.to_owned())),
        [object, field] if !object.is_empty() && !field.is_empty() => {
            Ok(Atom::Field(object.to_owned(), field.to_owned()))
        }
        _ => Err(format!("expected `object.field` at character {}, found `{word}`", at + 1)),
    }
}

/// The largest value of a field: six bits hold it.
pub(super) const MAX_NUMBER: u8 = 63;

struct Parser<'t> {
    tokens: &'t [(usize, Token)],
    end: usize,
}

impl Parser<'_> {
    fn next_is(&mut self, token: &Token) -> bool {
        let is_next = self.tokens.first().is_some_and(|(_, next)| next == token);
        if is_next {
            self.tokens = &self.tokens[1..];
        }
        is_next
    }

    fn or(&mut self) -> Result<Ast, String> {
        let mut parts = vec![self.and()?];
        while self.next_is(&Token::Or) {
            parts.push(self.and()?);
        }
        Ok(if parts.len() == 1 { parts.remove(0) } else { Ast::Or(parts) })
    }

    fn and(&mut self) -> Result<Ast, String> {
        let mut parts = vec![self.not()?];
        while self.next_is(&Token::And) {
            parts.push(self.not()?);
        }
        Ok(if parts.len() == 1 { parts.remove(0) } else { Ast::And(parts) })
    }

    fn not(&mut self) -> Result<Ast, String> {
        if self.next_is(&Token::Not) {
            return Ok(Ast::Not(Box::new(self.not()?)));
        }
        if self.next_is(&Token::Open) {
            let inner = self.or()?;
            if self.next_is(&Token::Close) {
                return Ok(inner);
            }
            return Err(self.expected("`)`"));
        }
        let left = self.atom()?;
        let Some((_, Token::Comparison(comparison))) = self.tokens.first() else {
            return Ok(Ast::Test(left));
        };
        let comparison = *comparison;
        self.tokens = &self.tokens[1..];
        Ok(Ast::Compare(left, comparison, self.atom()?))
    }

    fn atom(&mut self) -> Result<Atom, String> {
        let Some((_, Token::Atom(atom))) = self.tokens.first() else {
            return Err(self.expected("a number, a value or `object.field`"));
        };
        self.tokens = &self.tokens[1..];
        Ok(atom.clone())
    }

    fn expected(&self, what: &str) -> String {
        let at = self.tokens.first().map_or(self.end, |(at, _)| *at);
        format!("expected {what} at character {}", at + 1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn conditions_bind_as_in_other_languages() {
        let ast = parse("a.x == 1 || !b.y && (c.z != done)").expect("parses");
        let Ast::Or(parts) = ast else { panic!("`||` binds weakest") };
        assert_eq!(parts.len(), 2);
        let Ast::And(parts) = &parts[1] else { panic!("`&&` binds stronger") };
        assert!(matches!(&parts[0], Ast::Not(_)));
        assert_eq!(
            parts[1],
            Ast::Compare(
                Atom::Field("c".into(), "z".into()),
                Comparison::NotEqual,
                Atom::Label("done".into())
            )
        );
    }

    #[test]
    fn errors_say_where() {
        assert_eq!(
            parse("a.x ="),
            Err("unexpected `=` at character 5".to_owned()),
            "a single equals sign"
        );
        assert_eq!(parse("(a.x"), Err("expected `)` at character 5".to_owned()));
        assert_eq!(
            parse("a.x b.y"),
            Err("expected `&&`, `||` or the end at character 5".to_owned())
        );
        assert!(parse("a.x == 64").is_err());
        assert!(parse("a.b.c").is_err());
    }
}
