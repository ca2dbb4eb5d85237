//! Witnesses as CEL over `object`.
//!
//! The expressions use what CEL had from its beginning (`has`, `exists`, `matches`, `startsWith`),
//! so that they run in any cluster, and every field is asked for before it is read: an expression
//! that meets an object without a status is false, and no error.

use super::profile::{Piece, Profile, Step, Test, Witness, pieces, steps};

/// Where conditions stand, if the profile does not say so.
const CONDITIONS: &str = "status.conditions";

/// Algorithms of digests. Two revisions are compared where both have a digest by the same one.
const ALGORITHMS: [&str; 5] = ["sha1", "sha256", "sha384", "sha512", "blake3"];

/// A condition that can be held, as CEL.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Held {
    /// The condition's type.
    pub condition: String,
    /// JSON Pointer of the list in which it stands.
    pub pointer: String,
    /// The fields that its witnesses speak of.
    pub fields: Vec<String>,
    /// Whether it can be said exactly when it is torn.
    pub is_exact: bool,
    /// The list in which it stands: `object.status.conditions`.
    list: String,
    /// Whether the list can be read.
    guard: String,
    /// Over `c`: a text says something else than its field, whatever the status.
    torn: String,
    /// Over `c`: a text says what its field holds, or what cannot be compared with it.
    whole: String,
    /// Over `c`: never false where the status must change.
    concerns: String,
}

/// What of a profile cannot be said in CEL.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LeftOut {
    /// The condition.
    pub condition: String,
    /// The template.
    pub text: String,
    /// Why.
    pub why: &'static str,
}

/// An expression with a name, to be used in others as `variables.name`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Variable {
    /// Its name.
    pub name: String,
    /// CEL.
    pub expression: String,
}

impl Held {
    /// Over `object`: plumb may have to change it. Never false where it has to, and short: plumb
    /// itself judges what it is asked about.
    ///
    /// While it is held each write is of concern, so that the one that heals is never missed.
    pub fn concerns(&self) -> String {
        let Self { guard, list, condition, concerns, .. } = self;
        let type_ = literal(condition);
        format!(
            "{guard} && {list}.exists(c, has(c.type) && c.type == {type_} && has(c.status) && \
             has(c.message) && ({concerns}))"
        )
    }

    /// What [`Self::is_torn`] and [`Self::change`] are made of. `number` tells those of one policy
    /// apart.
    pub fn variables(&self, number: usize) -> Vec<Variable> {
        let Self { guard, list, condition, .. } = self;
        let type_ = literal(condition);
        let name = name(condition, number);
        let over = |what: &str, text: &str| Variable {
            name: format!("{name}_{what}"),
            expression: format!("variables.{name}.exists(c, {text})"),
        };
        vec![
            Variable {
                name: name.clone(),
                expression: format!(
                    "{guard} ? {list}.filter(c, has(c.type) && c.type == {type_} && \
                     has(c.status) && has(c.message)) : []"
                ),
            },
            over("torn", &self.torn),
            over("whole", &self.whole),
        ]
    }

    /// Over `variables`: it says True, and is torn.
    pub fn is_torn(&self, number: usize) -> String {
        let name = name(&self.condition, number);
        format!(
            "variables.{name}.exists(c, c.status == 'True') && variables.{name}_torn && \
             !has(object.metadata.deletionTimestamp)"
        )
    }

    /// Over `variables`: the operations of a JSON Patch that hold it or release it.
    pub fn change(&self, number: usize) -> String {
        let Self { list, condition, .. } = self;
        let name = name(condition, number);
        let (type_, pointer) = (literal(condition), literal(&self.pointer));
        let place = format!("{pointer} + '/' + string({list}.map(c, c.type).indexOf({type_})) +");
        let patch = |value: &str| {
            format!(
                "[JSONPatch{{op: 'test', path: {place} '/type', value: {type_}}}, \
                 JSONPatch{{op: 'replace', path: {place} '/status', value: '{value}'}}]"
            )
        };
        format!(
            "(({}) ? {} : (variables.{name}.exists(c, c.status == 'Unknown') && \
             variables.{name}_whole && !variables.{name}_torn) ? {} : [])",
            self.is_torn(number),
            patch("Unknown"),
            patch("True"),
        )
    }
}

/// The name of a condition among the variables.
fn name(condition: &str, number: usize) -> String {
    if is_name(condition) { condition.to_owned() } else { format!("condition{number}") }
}

/// What of a profile can be held, and what cannot be said.
pub fn held(profile: &Profile) -> (Vec<Held>, Vec<LeftOut>) {
    let list = profile.conditions.first().map_or(CONDITIONS, String::as_str);
    let Some(place) = Place::of(list) else { return (Vec::new(), Vec::new()) };
    let mut left_out = Vec::new();
    let mut all = Vec::new();
    for condition in &profile.happy {
        let (mut torn, mut whole, mut concerns) = (Vec::new(), Vec::new(), Vec::new());
        let mut fields = Vec::new();
        for witness in profile.witnesses.iter().filter(|one| one.condition == *condition) {
            let texts = Texts::of(witness);
            push(&mut concerns, texts.concerns(&reason(witness)));
            let mut leave_out = |text: &str, why| {
                left_out.push(LeftOut { condition: condition.clone(), text: text.to_owned(), why });
            };
            for (text, why) in &texts.unsaid {
                leave_out(text, *why);
            }
            let Some(when) = conditions_of(witness, &place) else {
                leave_out(&witness.text.join(" | "), "its own tests are more than CEL is given");
                continue;
            };
            if texts.unsaid.is_empty() {
                let speaks = all_of(&[reason(witness), when]);
                torn.push(all_of(&[speaks.clone(), texts.torn()]));
                whole.push(all_of(&[speaks, any_of(&texts.whole)]));
                texts.fields.into_iter().for_each(|field| push(&mut fields, field));
            }
        }
        if !concerns.is_empty() {
            all.push(Held {
                condition: condition.clone(),
                pointer: pointer(list),
                fields,
                is_exact: !torn.is_empty(),
                list: place.value.clone(),
                guard: place.guard(),
                torn: any_of(&torn),
                whole: any_of(&whole),
                concerns: any_of(&concerns),
            });
        }
    }
    (all, left_out)
}

fn push(list: &mut Vec<String>, text: String) {
    if !list.contains(&text) {
        list.push(text);
    }
}

/// The JSON Pointer of a field path that leads to one place.
fn pointer(path: &str) -> String {
    let mut pointer = String::new();
    for step in steps(path).unwrap_or_default() {
        pointer += &match step {
            Step::Key(key) => format!("/{}", key.replace('~', "~0").replace('/', "~1")),
            Step::Index(index) => format!("/{index}"),
        };
    }
    pointer
}

/// A place in `object`.
struct Place {
    /// What must hold before `value` can be read.
    guards: Vec<String>,
    value: String,
}

impl Place {
    fn of(path: &str) -> Option<Self> {
        let mut place = Self { guards: Vec::new(), value: "object".to_owned() };
        for step in steps(path)? {
            let base = &place.value;
            let (guard, value) = match step {
                Step::Key(key) if is_name(key) => {
                    (format!("has({base}.{key})"), format!("{base}.{key}"))
                }
                Step::Key(key) => {
                    let key = literal(key);
                    (format!("{key} in {base}"), format!("{base}[{key}]"))
                }
                Step::Index(index) => {
                    (format!("size({base}) > {index}"), format!("{base}[{index}]"))
                }
            };
            place.guards.push(guard);
            place.value = value;
        }
        Some(place)
    }

    fn guard(&self) -> String {
        self.guards.join(" && ")
    }
}

/// Whether a key can be written after a point: an identifier that CEL has not taken.
fn is_name(key: &str) -> bool {
    const TAKEN: [&str; 20] = [
        "true",
        "false",
        "null",
        "in",
        "as",
        "break",
        "const",
        "continue",
        "else",
        "for",
        "function",
        "if",
        "import",
        "let",
        "loop",
        "package",
        "namespace",
        "return",
        "var",
        "void",
    ];
    let first = |c: char| c.is_ascii_alphabetic() || c == '_';
    key.starts_with(first)
        && key.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
        && !TAKEN.contains(&key)
        && key != "while"
}

/// A text as CEL writes it.
pub fn literal(text: &str) -> String {
    let mut literal = String::from("'");
    for c in text.chars() {
        match c {
            '\\' => literal.push_str("\\\\"),
            '\'' => literal.push_str("\\'"),
            '\n' => literal.push_str("\\n"),
            other => literal.push(other),
        }
    }
    literal + "'"
}

fn list_of(texts: &[String]) -> String {
    format!("[{}]", texts.iter().map(|text| literal(text)).collect::<Vec<_>>().join(", "))
}

fn reason(witness: &Witness) -> String {
    match witness.reasons.as_slice() {
        [] => String::new(),
        reasons => format!("has(c.reason) && c.reason in {}", list_of(reasons)),
    }
}

/// The witness's own tests; nothing if one of them cannot be said.
fn conditions_of(witness: &Witness, list: &Place) -> Option<String> {
    let tests: Option<Vec<String>> = witness.when.iter().map(|test| tested(test, list)).collect();
    Some(all_of(&tests?))
}

fn tested(test: &Test, list: &Place) -> Option<String> {
    if !test.more.is_empty() {
        return None;
    }
    if !test.condition.is_empty() {
        if test.condition == "*" {
            return None;
        }
        let mut parts = vec![format!("has(w.type) && w.type == {}", literal(&test.condition))];
        if !test.status.is_empty() {
            parts.push(format!("has(w.status) && w.status in {}", list_of(&test.status)));
        }
        if !test.reason.is_empty() {
            parts.push(format!("has(w.reason) && w.reason in {}", list_of(&test.reason)));
        }
        let found = format!("{}.exists(w, {})", list.value, all_of(&parts));
        return Some(if test.exists == Some(false) { format!("!{found}") } else { found });
    }
    if test.exists.is_some() {
        return None;
    }
    let field = Place::of(&test.field)?;
    let mut parts = Vec::new();
    if !test.one_of.is_empty() {
        parts.push(format!(
            "{} && string({}) in {}",
            field.guard(),
            field.value,
            list_of(&test.one_of)
        ));
    }
    if !test.not_in.is_empty() {
        let listed =
            format!("{} && string({}) in {}", field.guard(), field.value, list_of(&test.not_in));
        parts.push(format!("!({listed})"));
    }
    (!parts.is_empty()).then(|| all_of(&parts))
}

/// The texts of one witness, each over `c`.
#[derive(Default)]
struct Texts {
    /// The message has the shape of a template.
    shapes: Vec<String>,
    /// It has the shape and says something else.
    differs: Vec<String>,
    /// It says just what the fields hold.
    agrees: Vec<String>,
    /// It has the shape, the fields are there, and it does not say something else.
    whole: Vec<String>,
    fields: Vec<String>,
    /// Templates that cannot be said, and why.
    unsaid: Vec<(String, &'static str)>,
}

impl Texts {
    fn of(witness: &Witness) -> Self {
        let mut texts = Self::default();
        for template in &witness.text {
            let pieces = pieces(template);
            let shape = format!("c.message.matches({})", literal(&pattern(&pieces)));
            let compared = if witness.outdated {
                Err("it says what the field does not hold so far")
            } else {
                Compared::of(&pieces)
            };
            match compared {
                Ok(Compared { guard, equal, missing, incomparable }) => {
                    let agrees = match &missing {
                        None => format!("{guard} && {equal}"),
                        Some(missing) => format!("(({guard}) ? {equal} : {missing})"),
                    };
                    texts.differs.push(match (witness.optional, &missing, &incomparable) {
                        (_, Some(_), _) => format!("{shape} && !{agrees}"),
                        (false, None, None) => format!("{shape} && !({agrees})"),
                        (true, None, None) => format!("{shape} && {guard} && !({equal})"),
                        (false, None, Some(other)) => {
                            format!("{shape} && !({guard} && ({equal} || {other}))")
                        }
                        (true, None, Some(other)) => {
                            format!("{shape} && {guard} && !({equal} || {other})")
                        }
                    });
                    texts.whole.push(match &incomparable {
                        None => agrees.clone(),
                        Some(other) => format!("{shape} && {guard} && ({equal} || {other})"),
                    });
                    texts.agrees.push(agrees);
                }
                Err(why) => texts.unsaid.push((template.clone(), why)),
            }
            texts.shapes.push(shape);
            for piece in pieces {
                if let Piece::Field(path, _) = piece {
                    push(&mut texts.fields, path.to_owned());
                }
            }
        }
        texts
    }

    /// One template is torn, and none of the others agrees.
    fn torn(&self) -> String {
        match self.differs.as_slice() {
            [one] => one.clone(),
            many => format!("{} && !{}", any_of(many), any_of(&self.agrees)),
        }
    }

    /// Never false where the status must change.
    fn concerns(&self, reason: &str) -> String {
        let mut parts = vec![reason.to_owned(), any_of(&self.shapes)];
        parts.push(if self.agrees.is_empty() {
            "c.status in ['True', 'Unknown']".to_owned()
        } else {
            let agrees = any_of(&self.agrees);
            format!("(c.status == 'Unknown' || c.status == 'True' && !{agrees})")
        });
        all_of(&parts)
    }
}

/// A regular expression (RE2) for the texts of a template's shape.
fn pattern(pieces: &[Piece<'_>]) -> String {
    let mut pattern = String::from("^");
    for piece in pieces {
        match piece {
            Piece::Fixed(text) => pattern += &quoted(text),
            Piece::Field(..) | Piece::Word => pattern += WORD,
            Piece::Any => pattern += "(?s:.*)",
        }
    }
    pattern + "$"
}

/// One word: what a placeholder reads.
const WORD: &str = r#"[^\s\pZ'"`]+"#;

/// The name before the digest of a revision, if there is one.
const REVISION_NAME: &str = r#"([^\s\pZ'"`]*@)?"#;

/// Fixed text in a regular expression.
fn quoted(text: &str) -> String {
    let mut quoted = String::new();
    for c in text.chars() {
        if r"\.+*?()|[]{}^$".contains(c) {
            quoted.push('\\');
        }
        quoted.push(c);
    }
    quoted
}

/// How a message compares with one template; each over `c`, for a message of its shape.
struct Compared {
    /// The fields are there.
    guard: String,
    /// The message says what they hold.
    equal: String,
    /// The message says what missing fields mean, where that has a meaning.
    missing: Option<String>,
    /// What it says and what the field holds may be two ways to write one thing.
    incomparable: Option<String>,
}

impl Compared {
    fn of(pieces: &[Piece<'_>]) -> Result<Self, &'static str> {
        let (core, is_whole) = match pieces {
            [core @ .., Piece::Any] => (core, false),
            core => (core, true),
        };
        let says = |text: &str| {
            if is_whole {
                format!("c.message == {text}")
            } else {
                format!("c.message.startsWith({text})")
            }
        };
        let fields = core.iter().filter(|piece| matches!(piece, Piece::Field(..))).count();
        let (mut guards, mut terms) = (Vec::new(), Vec::new());
        let (mut missing, mut incomparable) = (None, None);
        for (index, piece) in core.iter().enumerate() {
            match piece {
                Piece::Fixed(text) => terms.push(literal(text)),
                Piece::Word | Piece::Any => return Err("other words stand between its fields"),
                Piece::Field(path, filter) => {
                    let place = Place::of(path).ok_or("its field is not in one place")?;
                    let value = &place.value;
                    match *filter {
                        "" => terms.push(format!("string({value})")),
                        "revision" if fields == 1 => {
                            terms.push(format!("string({value})"));
                            incomparable = Some(incomparable_to(core, index, value, is_whole));
                        }
                        "count" if fields == 1 => {
                            terms.push(format!("string(size({value}))"));
                            let none: String =
                                core.iter().map(|piece| piece.fixed_or("0")).collect();
                            missing = Some(says(&literal(&none)));
                        }
                        _ => return Err("it compares a field by its meaning"),
                    }
                    place.guards.into_iter().for_each(|guard| push(&mut guards, guard));
                }
            }
        }
        if guards.is_empty() {
            return Err("it names no field");
        }
        let equal = says(&terms.join(" + "));
        Ok(Self { guard: guards.join(" && "), equal, missing, incomparable })
    }
}

impl<'t> Piece<'t> {
    fn fixed_or(&self, other: &'t str) -> &'t str {
        if let Piece::Fixed(text) = self { text } else { other }
    }
}

/// Over `c`: not both what the message says and what the field holds are digests by one algorithm,
/// and not both are none.
fn incomparable_to(core: &[Piece<'_>], at: usize, value: &str, is_whole: bool) -> String {
    let fixed = |pieces: &[Piece<'_>]| -> String {
        pieces.iter().map(|piece| quoted(piece.fixed_or(""))).collect()
    };
    let before = literal(&format!("^{}{REVISION_NAME}", fixed(&core[..at])));
    let end = if is_whole { "$" } else { "" };
    let after = literal(&format!(":[0-9a-fA-F]{{32,}}{}{end}", fixed(&core[at + 1..])));
    let (start, rest) = (literal(&format!("^{REVISION_NAME}")), literal(":[0-9a-fA-F]{32,}$"));
    let digest = literal("[0-9a-fA-F]{32}");
    let algorithms: Vec<String> = ALGORITHMS.iter().map(|name| (*name).to_owned()).collect();
    let algorithms = list_of(&algorithms);
    format!(
        "!({algorithms}.exists(a, c.message.matches({before} + a + {after}) && \
         string({value}).matches({start} + a + {rest})) || \
         !c.message.matches({digest}) && !string({value}).matches({digest}))"
    )
}

fn all_of(parts: &[String]) -> String {
    let parts: Vec<&str> =
        parts.iter().map(String::as_str).filter(|part| !part.is_empty()).collect();
    parts.join(" && ")
}

fn any_of(parts: &[String]) -> String {
    match parts {
        [one] => format!("({one})"),
        many => {
            let many: Vec<String> = many.iter().map(|part| format!("({part})")).collect();
            format!("({})", many.join(" || "))
        }
    }
}
