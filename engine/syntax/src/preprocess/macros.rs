//! Macro definitions and their expansion.
//!
//! Each token carries the names of the macros it came out of (its hide set); a
//! macro is not expanded inside itself, so expansion ends. Bounds on depth, on
//! tokens made and on the bytes of new ones keep it short and small as well.

use super::scan::{Kind, Scanner};
use crate::source::Limits;
use std::collections::{BTreeMap, VecDeque};
use std::rc::Rc;

/// Longest token that `#` and `##` may make; chains of them can double it at every step.
const MAX_TOKEN_BYTES: usize = 1 << 16;

/// Names of macros that a token came out of.
type Hidden = Rc<[Rc<str>]>;

/// A token during expansion.
#[derive(Clone, Debug)]
pub(super) struct Token {
    pub(super) kind: Kind,
    pub(super) text: Rc<str>,
    /// White space stands before it.
    pub(super) space: bool,
    hide: Option<Hidden>,
}

impl Token {
    pub(super) fn new(kind: Kind, text: &str, space: bool) -> Self {
        Self { kind, text: Rc::from(text), space, hide: None }
    }

    pub(super) fn is(&self, text: &str) -> bool {
        &*self.text == text
    }

    fn hidden(&self) -> &[Rc<str>] {
        self.hide.as_deref().unwrap_or_default()
    }
}

/// A macro.
#[derive(Clone, Debug)]
pub(super) struct Macro {
    /// `None` for an object-like macro.
    pub(super) params: Option<Vec<Rc<str>>>,
    /// The last parameter takes all remaining arguments.
    pub(super) variadic: bool,
    pub(super) body: Vec<Token>,
    /// File and bytes of the name, if a file defines it.
    pub(super) place: Option<(usize, usize, usize)>,
}

impl Macro {
    pub(super) fn same_as(&self, other: &Macro) -> bool {
        let texts = |m: &Macro| m.body.iter().map(|t| (t.text.clone(), t.space)).collect::<Vec<_>>();
        self.params == other.params && self.variadic == other.variadic && texts(self) == texts(other)
    }
}

/// Why an expansion failed; the first is final for the whole text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum ExpandError {
    /// [`Limits::macro_tokens`] was exceeded.
    TooManyTokens,
    /// [`Limits::macro_depth`] was exceeded.
    TooDeep(String),
    /// The text ends inside the argument list.
    Unclosed(String),
    /// Number of arguments: macro, expected, found.
    Arguments(String, usize, usize),
}

/// Expands macros; `place` answers `__FILE__` and `__LINE__`.
pub(super) struct Expander<'a> {
    pub(super) macros: &'a BTreeMap<Rc<str>, Macro>,
    pub(super) limits: Limits,
    /// Tokens handled so far, over the whole text.
    pub(super) tokens: &'a mut u32,
    /// Bytes of tokens that `#` and `##` made so far, likewise.
    pub(super) bytes: &'a mut u64,
    pub(super) place: (String, u32),
}

type Expanded = Result<Vec<Token>, ExpandError>;

impl Expander<'_> {
    /// Expands `tokens`; an argument list that starts behind them is taken from `rest`.
    pub(super) fn expand(&mut self, tokens: Vec<Token>, rest: Option<&mut Scanner<'_>>) -> Expanded {
        self.run(tokens, rest, 0)
    }

    fn run(&mut self, tokens: Vec<Token>, mut rest: Option<&mut Scanner<'_>>, depth: u32) -> Expanded {
        let mut queue: VecDeque<Token> = tokens.into();
        let mut out = Vec::new();
        self.count(queue.len(), 0)?;
        while let Some(token) = queue.pop_front() {
            if token.kind != Kind::Ident {
                out.push(token);
                continue;
            }
            if let Some(built_in) = self.built_in(&token) {
                out.push(built_in);
                continue;
            }
            let Some(found) = self.macros.get(&token.text).filter(|_| !token.hidden().contains(&token.text))
            else {
                out.push(token);
                continue;
            };
            if token.hidden().len() as u32 >= self.limits.macro_depth || depth >= self.limits.macro_depth {
                return Err(ExpandError::TooDeep(token.text.to_string()));
            }
            let found = found.clone();
            let Some(body) = self.replacement(&found, &token, &mut queue, &mut rest, depth)? else {
                out.push(token);
                continue;
            };
            for token in body.into_iter().rev() {
                queue.push_front(token);
            }
        }
        Ok(out)
    }

    /// Counts tokens before they are made, and bytes of those with a text of their own.
    fn count(&mut self, tokens: usize, bytes: usize) -> Result<(), ExpandError> {
        *self.tokens = self.tokens.saturating_add(u32::try_from(tokens).unwrap_or(u32::MAX));
        *self.bytes += bytes as u64;
        if *self.tokens > self.limits.macro_tokens || *self.bytes > u64::from(self.limits.total_bytes) {
            return Err(ExpandError::TooManyTokens);
        }
        Ok(())
    }

    fn built_in(&self, token: &Token) -> Option<Token> {
        match &*token.text {
            "__LINE__" => Some(Token::new(Kind::Number, &self.place.1.to_string(), token.space)),
            "__FILE__" => {
                let name = self.place.0.replace('\\', "\\\\").replace('"', "\\\"");
                Some(Token::new(Kind::Str, &format!("\"{name}\""), token.space))
            }
            _ => None,
        }
    }

    /// The tokens that replace a use; `None` if a function-like macro stands without arguments.
    fn replacement(
        &mut self,
        found: &Macro,
        name: &Token,
        queue: &mut VecDeque<Token>,
        rest: &mut Option<&mut Scanner<'_>>,
        depth: u32,
    ) -> Result<Option<Vec<Token>>, ExpandError> {
        let mut hide = name.hidden().to_vec();
        let mut body = match &found.params {
            None => self.substitute(found, &[], depth)?,
            Some(params) => {
                if !next_is_paren(queue, rest) {
                    return Ok(None);
                }
                let Some((args, close)) = self.arguments(queue, rest) else {
                    return Err(if *self.tokens > self.limits.macro_tokens {
                        ExpandError::TooManyTokens
                    } else {
                        ExpandError::Unclosed(name.text.to_string())
                    });
                };
                hide.retain(|hidden| close.hidden().contains(hidden));
                let args = match_arguments(&name.text, params, found.variadic, args)?;
                self.substitute(found, &args, depth)?
            }
        };
        hide.push(name.text.clone());
        hide_in(&mut body, &hide);
        if let Some(first) = body.first_mut() {
            first.space |= name.space;
        }
        Ok(Some(body))
    }

    /// Arguments up to the closing parenthesis, and that parenthesis;
    /// `None` if the text or the bound on tokens ends first.
    fn arguments(
        &mut self,
        queue: &mut VecDeque<Token>,
        rest: &mut Option<&mut Scanner<'_>>,
    ) -> Option<(Vec<Vec<Token>>, Token)> {
        let mut args = vec![Vec::new()];
        let mut depth = 0u32;
        loop {
            // Those that wait were counted when they were made.
            self.count(usize::from(queue.is_empty()), 0).ok()?;
            let token = next_token(queue, rest)?;
            match &*token.text {
                "(" => depth += 1,
                ")" if depth == 1 => return Some((args, token)),
                ")" => depth -= 1,
                "," if depth == 1 => {
                    args.push(Vec::new());
                    continue;
                }
                _ => {}
            }
            if (depth > 1 || !token.is("("))
                && let Some(last) = args.last_mut()
            {
                last.push(token);
            }
        }
    }

    /// The body with parameters replaced, `#` and `##` carried out.
    fn substitute(&mut self, found: &Macro, args: &[Vec<Token>], depth: u32) -> Expanded {
        let params = found.params.as_deref().unwrap_or(&[]);
        let param = |token: Option<&Token>| {
            let token = token.filter(|token| token.kind == Kind::Ident)?;
            args.get(params.iter().position(|param| *param == token.text)?)
        };
        let body = &found.body;
        let mut out: Vec<Token> = Vec::new();
        let mut at = 0;
        while let Some(token) = body.get(at) {
            at += 1;
            if out.last().map_or(0, |last| last.text.len()) > MAX_TOKEN_BYTES {
                return Err(ExpandError::TooManyTokens);
            }
            if token.is("#")
                && found.params.is_some()
                && let Some(arg) = param(body.get(at))
            {
                self.count(1, joined_bytes(arg))?;
                out.push(stringize(arg, token.space));
                at += 1;
            } else if token.is("##")
                && !out.is_empty()
                && let Some(next) = body.get(at)
            {
                let right = param(Some(next)).map_or_else(|| core::slice::from_ref(next), |arg| &arg[..]);
                let glued = [out.last(), right.first()].into_iter().flatten().map(|token| token.text.len());
                self.count(right.len(), glued.sum())?;
                paste(&mut out, right);
                at += 1;
            } else if let Some(arg) = param(Some(token)) {
                let pasted = body.get(at).is_some_and(|next| next.is("##"));
                let mut arg = if pasted {
                    self.count(arg.len(), 0)?;
                    arg.clone()
                } else {
                    self.run(arg.clone(), None, depth + 1)?
                };
                if let Some(first) = arg.first_mut() {
                    first.space |= token.space;
                }
                out.extend(arg);
            } else {
                self.count(1, 0)?;
                out.push(token.clone());
            }
        }
        Ok(out)
    }
}

/// Adds what may not be expanded again. Tokens that came with the same names share the longer list.
fn hide_in(body: &mut [Token], hide: &[Rc<str>]) {
    const KEPT: usize = 8;
    let mut known: Vec<(Option<Hidden>, Hidden)> = Vec::new();
    for token in body {
        let before = token.hide.take();
        let found = known.iter().find(|(old, _)| match (old, &before) {
            (Some(old), Some(before)) => Rc::ptr_eq(old, before),
            (None, None) => true,
            _ => false,
        });
        token.hide = Some(match found {
            Some((_, all)) => all.clone(),
            None => {
                let mut all = before.as_deref().unwrap_or_default().to_vec();
                all.extend(
                    hide.iter()
                        .filter(|hidden| !before.iter().flat_map(|b| b.iter()).any(|b| b == *hidden))
                        .cloned(),
                );
                let all: Hidden = all.into();
                known.truncate(KEPT - 1);
                known.insert(0, (before, all.clone()));
                all
            }
        });
    }
}

/// At most as many bytes as [`join`] makes of tokens.
pub(super) fn joined_bytes(tokens: &[Token]) -> usize {
    tokens.iter().map(|token| token.text.len() + 1).sum()
}

fn next_is_paren(queue: &VecDeque<Token>, rest: &mut Option<&mut Scanner<'_>>) -> bool {
    if let Some(next) = queue.front() {
        return next.is("(");
    }
    let Some(scanner) = rest else { return false };
    let mut ahead = scanner.clone();
    while let Some(piece) = ahead.next(true) {
        if !matches!(piece.kind, Kind::Space | Kind::Newline) {
            return ahead.text(piece) == "(";
        }
    }
    false
}

fn next_token(queue: &mut VecDeque<Token>, rest: &mut Option<&mut Scanner<'_>>) -> Option<Token> {
    if let Some(token) = queue.pop_front() {
        return Some(token);
    }
    let scanner = rest.as_mut()?;
    let mut space = false;
    loop {
        let piece = scanner.next(true)?;
        match piece.kind {
            Kind::Space | Kind::Newline => space = true,
            kind => return Some(Token::new(kind, scanner.text(piece), space)),
        }
    }
}

fn match_arguments(
    name: &str,
    params: &[Rc<str>],
    variadic: bool,
    mut args: Vec<Vec<Token>>,
) -> Result<Vec<Vec<Token>>, ExpandError> {
    if params.is_empty() && args.len() == 1 && args[0].is_empty() {
        args.clear();
    }
    if variadic {
        if args.len() + 1 == params.len() {
            args.push(Vec::new());
        }
        while args.len() > params.len() && args.len() >= 2 {
            let last = args.pop().unwrap_or_default();
            if let Some(before) = args.last_mut() {
                before.push(Token::new(Kind::Punct, ",", false));
                before.extend(last);
            }
        }
    }
    if args.len() == params.len() {
        Ok(args)
    } else {
        Err(ExpandError::Arguments(name.to_owned(), params.len(), args.len()))
    }
}

fn stringize(arg: &[Token], space: bool) -> Token {
    let text = join(arg).replace('\\', "\\\\").replace('"', "\\\"");
    Token::new(Kind::Str, &format!("\"{text}\""), space)
}

/// Glues the first token of `right` to the last of `out`.
fn paste(out: &mut Vec<Token>, right: &[Token]) {
    let mut right = right.iter();
    if let (Some(last), Some(first)) = (out.last_mut(), right.next()) {
        let text = format!("{}{}", last.text, first.text);
        let kind = Scanner::new(&text).next(true).map_or(Kind::Punct, |piece| piece.kind);
        let kind = if kind == Kind::Space { Kind::Punct } else { kind };
        *last = Token { kind, text: Rc::from(text.as_str()), space: last.space, hide: last.hide.clone() };
    }
    out.extend(right.cloned());
}

/// Text of tokens, with a blank wherever one stood and between words.
pub(super) fn join(tokens: &[Token]) -> String {
    let word = |token: &Token| matches!(token.kind, Kind::Ident | Kind::Number);
    let mut text = String::new();
    for (index, token) in tokens.iter().enumerate() {
        if index > 0 && (token.space || (word(token) && word(&tokens[index - 1]))) {
            text.push(' ');
        }
        text.push_str(&token.text);
    }
    text
}
