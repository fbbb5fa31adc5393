//! Macro definitions: what a `#define` line says, and the predefined ones.

use super::scan::Kind;
use super::token::Token;
use std::rc::Rc;

/// A macro.
#[derive(Clone, Debug)]
pub(super) enum Macro {
    /// Defined by a file, the command line or the target.
    User(Rc<Definition>),
    /// Computed where it is used.
    BuiltIn(BuiltIn),
}

/// Macros whose value depends on the place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum BuiltIn {
    Line,
    File,
    BaseFile,
    IncludeLevel,
    Counter,
    Date,
    Time,
    Timestamp,
    HasInclude,
    HasIncludeNext,
    Pragma,
}

/// All of them; `_Pragma` is an operator, but is defined like a macro.
pub(super) const BUILT_IN: [(&str, BuiltIn); 11] = [
    ("__LINE__", BuiltIn::Line),
    ("__FILE__", BuiltIn::File),
    ("__BASE_FILE__", BuiltIn::BaseFile),
    ("__INCLUDE_LEVEL__", BuiltIn::IncludeLevel),
    ("__COUNTER__", BuiltIn::Counter),
    ("__DATE__", BuiltIn::Date),
    ("__TIME__", BuiltIn::Time),
    ("__TIMESTAMP__", BuiltIn::Timestamp),
    ("__has_include", BuiltIn::HasInclude),
    ("__has_include_next", BuiltIn::HasIncludeNext),
    ("_Pragma", BuiltIn::Pragma),
];

/// What `#define` says.
#[derive(Clone, Debug, Default)]
pub(super) struct Definition {
    /// Number of parameters; `None` for an object-like macro.
    pub(super) params: Option<usize>,
    /// The last parameter takes all remaining arguments.
    pub(super) variadic: bool,
    pub(super) body: Vec<Element>,
    /// The body of a macro without parameters and `##`: its tokens are shared by all uses.
    pub(super) plain: Option<Rc<[Token]>>,
    /// The tokens as written, which tell two definitions apart.
    written: Vec<(Rc<str>, bool)>,
    /// File and bytes of the name, if a file defines it.
    pub(super) place: Option<(usize, usize, usize)>,
}

/// One element of a body.
#[derive(Clone, Debug)]
pub(super) struct Element {
    pub(super) what: What,
    /// White space is before it.
    pub(super) space: bool,
    /// `##` follows.
    pub(super) glued: bool,
}

/// What an element of a body is.
#[derive(Clone, Debug)]
pub(super) enum What {
    Token(Token),
    /// A parameter.
    Argument(usize),
    /// `#` and a parameter.
    Text(usize),
    /// `__VA_OPT__(...)`.
    Optional(Vec<Element>),
    /// `#__VA_OPT__(...)`.
    OptionalText(Vec<Element>),
}

/// Why a `#define` is wrong: the token and the message.
pub(super) type Wrong = (usize, String);

const OPTIONAL: &str = "__VA_OPT__";
const REST: &str = "__VA_ARGS__";

impl Definition {
    /// Reads what follows the name in a `#define`.
    pub(super) fn read(tokens: &[Token]) -> Result<Self, Wrong> {
        let mut body = tokens;
        let mut names = Vec::new();
        let mut params = None;
        let mut variadic = false;
        let mut start = 0;
        // Only a parenthesis that touches the name opens a parameter list.
        if tokens.first().is_some_and(|token| token.is("(") && !token.space) {
            (names, variadic, start) = parameters(tokens)?;
            body = &tokens[start..];
            params = Some(names.len());
        }
        let reader = BodyReader { tokens: body, names: &names, function: params.is_some(), variadic };
        let elements = reader.read(0, body.len(), "a macro").map_err(|(at, what)| (at + start, what))?;
        let tokens_only =
            elements.iter().all(|element| !element.glued && matches!(element.what, What::Token(_)));
        let plain = tokens_only.then(|| {
            elements.iter().filter_map(|element| match &element.what {
                What::Token(token) => Some(token.clone()),
                _ => None,
            })
        });
        let plain = plain.map(|tokens| {
            let mut tokens: Vec<Token> = tokens.collect();
            if let Some(first) = tokens.first_mut() {
                first.space = false;
            }
            tokens.into()
        });
        let written = tokens.iter().enumerate().map(|(index, token)| {
            let leads = index == 0 || (index == start && params.is_some());
            (token.text.clone(), token.space && !leads)
        });
        Ok(Self { params, variadic, body: elements, plain, written: written.collect(), place: None })
    }

    /// A macro that stands for a text.
    pub(super) fn of_text(text: &str) -> Self {
        let tokens: Rc<[Token]> = super::token::tokens_of(&super::splice::join_lines(text).0).into();
        Self { plain: Some(tokens), ..Self::default() }
    }

    pub(super) fn same_as(&self, other: &Self) -> bool {
        self.params == other.params && self.variadic == other.variadic && self.written == other.written
    }
}

/// Names between the parentheses of a `#define`, whether the last takes the rest, and where the body starts.
fn parameters(tokens: &[Token]) -> Result<(Vec<Rc<str>>, bool, usize), Wrong> {
    let mut names: Vec<Rc<str>> = Vec::new();
    let mut at = 1;
    if tokens.get(at).is_some_and(|token| token.is(")")) {
        return Ok((names, false, at + 1));
    }
    let never_end = || (0, "unterminated parameter list of this macro".to_owned());
    loop {
        let token = tokens.get(at).ok_or_else(never_end)?;
        let mut dots = token.is("...");
        if dots {
            names.push(Rc::from(REST));
        } else if token.kind != Kind::Ident {
            return Err((
                at,
                format!("macro parameters are names separated by commas, not `{}`", token.text),
            ));
        } else if names.contains(&token.text) {
            return Err((at, format!("the macro has two parameters `{}`", token.text)));
        } else {
            names.push(token.text.clone());
            if tokens.get(at + 1).is_some_and(|token| token.is("...")) {
                dots = true;
                at += 1;
            }
        }
        at += 1;
        let token = tokens.get(at).ok_or_else(never_end)?;
        at += 1;
        match &*token.text {
            ")" => return Ok((names, dots, at)),
            _ if dots => return Err((at - 1, "`)` must follow `...`".to_owned())),
            "," => {}
            other => {
                return Err((
                    at - 1,
                    format!("macro parameters are names separated by commas, not `{other}`"),
                ));
            }
        }
    }
}

struct BodyReader<'a> {
    tokens: &'a [Token],
    names: &'a [Rc<str>],
    function: bool,
    variadic: bool,
}

impl BodyReader<'_> {
    fn param(&self, at: usize, end: usize) -> Option<usize> {
        let token = self.tokens[..end].get(at).filter(|token| token.kind == Kind::Ident)?;
        self.names.iter().position(|name| *name == token.text)
    }

    fn optional(&self, at: usize, end: usize) -> bool {
        self.variadic && at < end && self.tokens[at].is_name(OPTIONAL)
    }

    /// The elements of `start..end`; `of` says what they are the body of.
    fn read(&self, start: usize, end: usize, of: &str) -> Result<Vec<Element>, Wrong> {
        let mut elements: Vec<Element> = Vec::new();
        let mut at = start;
        while at < end {
            let token = &self.tokens[at];
            let first = at;
            if token.is("##") {
                match elements.last_mut() {
                    Some(last) if at + 1 < end => last.glued = true,
                    _ => return Err((at, format!("`##` cannot begin or end the body of {of}"))),
                }
                at += 1;
                continue;
            }
            let hash = usize::from(token.is("#") && self.function);
            let what = if let Some(param) = self.param(at + hash, end) {
                at += hash + 1;
                if hash == 1 { What::Text(param) } else { What::Argument(param) }
            } else if self.optional(at + hash, end) {
                if of == OPTIONAL {
                    return Err((at + hash, "`__VA_OPT__` cannot contain another one".to_owned()));
                }
                let (from, to) = self.parenthesis(at + hash, end)?;
                at = to + 1;
                let inner = self.read(from, to, OPTIONAL)?;
                if hash == 1 { What::OptionalText(inner) } else { What::Optional(inner) }
            } else {
                at += 1;
                What::Token(token.clone())
            };
            elements.push(Element { what, space: self.tokens[first].space, glued: false });
        }
        Ok(elements)
    }

    /// What is inside the parentheses that follow.
    fn parenthesis(&self, name: usize, end: usize) -> Result<(usize, usize), Wrong> {
        if !self.tokens[..end].get(name + 1).is_some_and(|token| token.is("(")) {
            return Err((name, "`(` must follow `__VA_OPT__`".to_owned()));
        }
        let mut depth = 0;
        for at in name + 1..end {
            depth += i32::from(self.tokens[at].is("(")) - i32::from(self.tokens[at].is(")"));
            if depth == 0 {
                return Ok((name + 2, at));
            }
        }
        Err((name, "unterminated `__VA_OPT__`".to_owned()))
    }
}
