//! Expansion of macros, in GNU cpp's order.
//!
//! Tokens come from a stack of contexts (the body of a macro, an argument, the line of a directive) above
//! the file. While the body of a macro is read its name is disabled; a disabled name that is read stays as
//! it is for ever, so expansion ends. Bounds on the nesting of arguments, on tokens made and on the bytes
//! of new ones keep it short and small as well.

use super::Job;
use super::expansion::{Base, Context, Expansion};
use super::macros::{BuiltIn, Definition, Element, Macro, What};
use super::scan::Kind;
use super::token::{NOWHERE, Token, pasted, stringized};
use p4cc_budget::Overrun;
use std::rc::Rc;

/// Longest token that `#` and `##` may make; chains of them can double it at every step.
const MAX_TOKEN_BYTES: usize = 1 << 16;

/// Why an expansion failed; the first is final for the whole text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum ExpandError {
    /// [`Limits::macro_tokens`](crate::source::Limits::macro_tokens) was exceeded.
    TooManyTokens,
    /// [`Limits::macro_depth`](crate::source::Limits::macro_depth) was exceeded.
    TooDeep(String),
    /// The text ends inside the argument list.
    Unclosed(String),
    /// A line of an argument begins with a `#` that is not a directive.
    HashLine(String),
    /// Number of arguments: macro, expected, found.
    Arguments(String, usize, usize),
    /// `_Pragma` without its string.
    Pragma,
    /// `__has_include` without a file, or outside of a condition.
    HasInclude(&'static str),
    /// The compilation that the text is for is over.
    Over(Overrun),
}

/// Tokens, or why there are none.
pub(super) type Expanded<T> = Result<T, ExpandError>;

/// One argument of a use.
#[derive(Default)]
struct Argument {
    tokens: Vec<Token>,
    expanded: Option<Vec<Token>>,
    /// It was left out with its comma.
    omitted: bool,
}

/// What `##` does to the next element.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Glue {
    None,
    /// It is pasted to the last token.
    Last,
    /// It is pasted to the last token, which is itself pasted.
    Chain,
    /// Its left operand was empty.
    Nothing,
}

fn pad(source: Option<bool>) -> Token {
    Token::new(Kind::Pad(source), "", false)
}

impl Job<'_> {
    /// Counts tokens before they are made, and bytes of those with a text of their own.
    pub(super) fn count(&mut self, tokens: usize, bytes: usize) -> Expanded<()> {
        self.macro_tokens = self.macro_tokens.saturating_add(u32::try_from(tokens).unwrap_or(u32::MAX));
        self.macro_bytes += bytes as u64;
        if let Some(overrun) = self.options.budget.over() {
            return Err(ExpandError::Over(overrun));
        }
        let limits = self.options.limits;
        if self.macro_tokens > limits.macro_tokens || self.macro_bytes > u64::from(limits.total_bytes) {
            return Err(ExpandError::TooManyTokens);
        }
        Ok(())
    }

    /// Puts tokens before all else; they were counted when they were made, the context takes a place as well.
    fn push(&mut self, tokens: Rc<[Token]>, owner: Option<Rc<str>>, at: u32, closed: bool) -> Expanded<()> {
        self.count(1, 0)?;
        if let Some(name) = &owner {
            self.expansion.disabled.insert(name.clone());
        }
        self.expansion.contexts.push(Context { tokens, next: 0, owner, at, closed });
        Ok(())
    }

    fn pop(&mut self) {
        if let Some(Context { owner: Some(name), .. }) = self.expansion.contexts.pop() {
            self.expansion.disabled.remove(&name);
        }
    }

    /// All tokens of a directive's line, expanded.
    pub(super) fn expand_line(&mut self, tokens: &[Token], at: usize) -> Expanded<Vec<Token>> {
        self.in_line(tokens, at, |job| {
            let mut out = Vec::new();
            loop {
                let token = job.next(&mut Base::Empty)?;
                match token.kind {
                    Kind::End => return Ok(out),
                    Kind::Pad(_) => {}
                    _ => out.push(token),
                }
            }
        })
    }

    /// Runs `read` over the tokens of a directive's line, which starts `at` an offset of the file.
    pub(super) fn in_line<T>(
        &mut self,
        tokens: &[Token],
        at: usize,
        read: impl FnOnce(&mut Self) -> Expanded<T>,
    ) -> Expanded<T> {
        let outside = std::mem::take(&mut self.expansion);
        self.expansion.in_directive = true;
        let result = self.push(tokens.into(), None, at as u32, true).and_then(|()| read(self));
        self.expansion = outside;
        result
    }

    /// Drops what an error left half read.
    pub(super) fn abandon(&mut self) {
        self.expansion = Expansion::default();
    }

    /// The next token: of the contexts, or of the file.
    pub(super) fn next(&mut self, base: &mut Base<'_, '_>) -> Expanded<Token> {
        loop {
            let mut token = match self.expansion.contexts.last_mut() {
                None => self.base_token(base, false)?,
                Some(context) if context.next < context.tokens.len() => {
                    context.next += 1;
                    let mut token = context.tokens[context.next - 1].clone();
                    if token.at == NOWHERE {
                        token.at = context.at;
                    }
                    token
                }
                Some(context) if context.closed => return Ok(Token::new(Kind::End, "", false)),
                Some(_) => {
                    self.pop();
                    if self.expansion.in_directive {
                        continue;
                    }
                    return Ok(pad(None));
                }
            };
            if token.kind != Kind::Ident || token.settled {
                return Ok(token);
            }
            let Some(found) = self.macros.get(&token.text).cloned() else { return Ok(token) };
            if self.expansion.disabled.contains(&token.text) {
                token.settled = true;
                return Ok(token);
            }
            if self.expansion.held > 0 || !self.enter(&found, &token, base)? {
                return Ok(token);
            }
            if !self.expansion.in_directive {
                return Ok(pad(Some(token.space)));
            }
        }
    }

    /// Puts back the token that was just read of the contexts.
    pub(super) fn unread(&mut self, token: &Token) {
        if let Some(context) = self.expansion.contexts.last_mut().filter(|_| token.kind != Kind::End) {
            context.next -= 1;
        }
    }

    /// Puts what a macro stands for before all else; false if a function-like macro has no arguments.
    pub(super) fn enter(&mut self, found: &Macro, name: &Token, base: &mut Base<'_, '_>) -> Expanded<bool> {
        let definition = match found {
            Macro::User(definition) => definition.clone(),
            Macro::BuiltIn(built_in) => {
                let Some(token) = self.built_in(*built_in, name, base)? else { return Ok(false) };
                self.push(Rc::from([token]), None, name.at, false)?;
                return Ok(true);
            }
        };
        let owner = Some(name.text.clone());
        let Some(params) = definition.params else {
            let tokens = self.body(&definition, &mut [])?;
            self.push(tokens, owner, name.at, false)?;
            return Ok(true);
        };
        self.expansion.held += 1;
        let args = self.invocation(&definition, name, params, base);
        self.expansion.held -= 1;
        let Some(mut args) = args? else { return Ok(false) };
        let tokens = self.body(&definition, &mut args)?;
        self.push(tokens, owner, name.at, false)?;
        Ok(true)
    }

    fn body(&mut self, definition: &Definition, args: &mut [Argument]) -> Expanded<Rc<[Token]>> {
        match &definition.plain {
            Some(tokens) => {
                self.count(tokens.len(), 0)?;
                Ok(tokens.clone())
            }
            None => Ok(self.substitute(definition, &definition.body, args)?.into()),
        }
    }

    /// The arguments behind a macro's name, if a parenthesis is the next token.
    fn invocation(
        &mut self,
        definition: &Definition,
        name: &Token,
        params: usize,
        base: &mut Base<'_, '_>,
    ) -> Expanded<Option<Vec<Argument>>> {
        let mut seen: Option<Option<bool>> = None;
        loop {
            let from = self.expansion.contexts.len();
            let before = base.position();
            let token = if from == 0 { self.base_token(base, true)? } else { self.next(base)? };
            if let Kind::Pad(source) = token.kind {
                if seen.flatten().is_none() || (seen == Some(Some(false)) && source.is_none()) {
                    seen = Some(source);
                }
                continue;
            }
            if token.is("(") {
                return self.arguments(definition, name, params, base).map(Some);
            }
            match self.expansion.contexts.is_empty() {
                true => base.return_to(before),
                false => self.unread(&token),
            }
            if let Some(source) = seen {
                self.push(Rc::from([pad(source)]), None, NOWHERE, false)?;
            }
            return Ok(None);
        }
    }

    /// Arguments up to the closing parenthesis.
    fn arguments(
        &mut self,
        definition: &Definition,
        name: &Token,
        params: usize,
        base: &mut Base<'_, '_>,
    ) -> Expanded<Vec<Argument>> {
        let mut args = vec![Argument::default()];
        let mut depth = 0u32;
        loop {
            let token = self.next(base)?;
            self.count(1, 0)?;
            let rest = definition.variadic && args.len() == params;
            let Some(last) = args.last_mut() else { break };
            match (token.kind, &*token.text) {
                (Kind::End, _) => return Err(ExpandError::Unclosed(name.text.to_string())),
                (Kind::Punct, "#") if token.at == HASH => {
                    return Err(ExpandError::HashLine(name.text.to_string()));
                }
                (Kind::Pad(_), _) if last.tokens.is_empty() => continue,
                (Kind::Punct, "(") => depth += 1,
                (Kind::Punct, ")") if depth == 0 => break,
                (Kind::Punct, ")") => depth -= 1,
                (Kind::Punct, ",") if depth == 0 && !rest => {
                    args.push(Argument::default());
                    continue;
                }
                _ => {}
            }
            last.tokens.push(token);
        }
        for arg in &mut args {
            while arg.tokens.last().is_some_and(Token::is_pad) {
                arg.tokens.pop();
            }
        }
        let found = args.len();
        let nothing = found == 1 && args[0].tokens.is_empty();
        if params == 0 && nothing {
            return Ok(Vec::new());
        }
        if found != params && !(definition.variadic && found + 1 == params) {
            return Err(ExpandError::Arguments(name.text.to_string(), params, found));
        }
        args.resize_with(params, Argument::default);
        if definition.variadic
            && (found < params || nothing)
            && let Some(last) = args.last_mut()
        {
            last.omitted = true;
        }
        Ok(args)
    }

    /// An argument with its macros replaced.
    fn expand_argument(&mut self, arg: &mut Argument) -> Expanded<Vec<Token>> {
        if let Some(tokens) = &arg.expanded {
            return Ok(tokens.clone());
        }
        let mut out = Vec::new();
        if !arg.tokens.is_empty() {
            if self.expansion.depth >= self.options.limits.macro_depth {
                let name = arg.tokens.first().map_or_else(String::new, |token| token.text.to_string());
                return Err(ExpandError::TooDeep(name));
            }
            self.expansion.depth += 1;
            let held = std::mem::take(&mut self.expansion.held);
            self.push(arg.tokens.clone().into(), None, NOWHERE, true)?;
            loop {
                let token = self.next(&mut Base::Empty)?;
                if token.kind == Kind::End {
                    break;
                }
                out.push(token);
            }
            self.pop();
            self.expansion.held = held;
            self.expansion.depth -= 1;
        }
        arg.expanded = Some(out.clone());
        Ok(out)
    }

    /// Elements of a body with parameters replaced, `#` and `##` carried out.
    fn substitute(
        &mut self,
        definition: &Definition,
        elements: &[Element],
        args: &mut [Argument],
    ) -> Expanded<Vec<Token>> {
        let mut out: Vec<Token> = Vec::new();
        let mut glue = Glue::None;
        for (index, element) in elements.iter().enumerate() {
            let operand = element.glued || glue != Glue::None;
            let single = match &element.what {
                What::Token(token) => Some(token.clone()),
                What::Text(param) => Some(self.text_of(&args[*param].tokens, element.space)?),
                What::OptionalText(inner) => {
                    let tokens = self.optional(definition, inner, args)?;
                    Some(self.text_of(&tokens, element.space)?)
                }
                _ => None,
            };
            if let Some(token) = single {
                glue = self.add(&mut out, vec![token], glue, element.glued)?;
                continue;
            }
            let tokens = match &element.what {
                What::Optional(inner) => self.optional(definition, inner, args)?,
                What::Argument(param) => {
                    let rest = definition.variadic && param + 1 == args.len();
                    if rest
                        && matches!(glue, Glue::Last | Glue::Chain)
                        && out.last().is_some_and(|last| last.is(","))
                    {
                        // A comma before the remaining arguments is not pasted: it goes if there are none.
                        if args[*param].omitted && !element.glued {
                            out.pop();
                        }
                        glue = Glue::Nothing;
                    }
                    if operand {
                        args[*param].tokens.clone()
                    } else {
                        let mut arg = std::mem::take(&mut args[*param]);
                        let tokens = self.expand_argument(&mut arg);
                        args[*param] = arg;
                        tokens?
                    }
                }
                _ => Vec::new(),
            };
            let padded = !self.expansion.in_directive;
            if padded && index > 0 && glue == Glue::None {
                out.push(pad(Some(element.space)));
            }
            glue = self.add(&mut out, tokens, glue, element.glued)?;
            if padded && !element.glued {
                out.push(pad(None));
            }
        }
        Ok(out)
    }

    /// What `__VA_OPT__` stands for: nothing if the remaining arguments are nothing.
    fn optional(
        &mut self,
        definition: &Definition,
        inner: &[Element],
        args: &mut [Argument],
    ) -> Expanded<Vec<Token>> {
        let Some(rest) = args.last_mut() else { return Ok(Vec::new()) };
        let mut rest = std::mem::take(rest);
        let expanded = self.expand_argument(&mut rest);
        if let Some(last) = args.last_mut() {
            *last = rest;
        }
        if expanded?.iter().all(Token::is_pad) {
            return Ok(Vec::new());
        }
        let mut tokens = self.substitute(definition, inner, args)?;
        while tokens.last().is_some_and(Token::is_pad) {
            tokens.pop();
        }
        Ok(tokens)
    }

    fn text_of(&mut self, tokens: &[Token], space: bool) -> Expanded<Token> {
        self.count(1, tokens.iter().map(|token| token.text.len() + 1).sum())?;
        let text = stringized(tokens, space);
        if text.text.len() > MAX_TOKEN_BYTES { Err(ExpandError::TooManyTokens) } else { Ok(text) }
    }

    /// Appends the tokens of an element, the first pasted to the last before it if `glue` says so.
    fn add(&mut self, out: &mut Vec<Token>, tokens: Vec<Token>, glue: Glue, glued: bool) -> Expanded<Glue> {
        self.count(tokens.len(), 0)?;
        let padded = !self.expansion.in_directive;
        let mut tokens = tokens.into_iter();
        let Some(first) = tokens.next() else {
            if glue == Glue::Chain && !glued && padded {
                out.push(pad(None));
            }
            return Ok(match (glue, glued) {
                (_, false) => Glue::None,
                (Glue::None | Glue::Nothing, true) => Glue::Nothing,
                (started, true) => started,
            });
        };
        let single = tokens.len() == 0;
        let left = if matches!(glue, Glue::Last | Glue::Chain) { out.pop() } else { None };
        let mut next = if glued { Glue::Last } else { Glue::None };
        match left {
            Some(left) => {
                self.count(1, left.text.len() + first.text.len())?;
                if left.text.len() + first.text.len() > MAX_TOKEN_BYTES {
                    return Err(ExpandError::TooManyTokens);
                }
                if padded && glue == Glue::Last {
                    out.push(pad(Some(left.space)));
                }
                let continues = single && glued;
                match pasted(&left, &first) {
                    Some(token) => {
                        out.push(token);
                        if continues {
                            next = Glue::Chain;
                        } else if padded {
                            out.push(pad(None));
                        }
                    }
                    None => {
                        out.push(left);
                        if padded {
                            out.push(pad(None));
                        }
                        out.push(first);
                    }
                }
            }
            None => out.push(first),
        }
        out.extend(tokens);
        Ok(next)
    }

    /// Value of a macro that is computed where it is used; `None` if its name stays.
    fn built_in(
        &mut self,
        built_in: BuiltIn,
        name: &Token,
        base: &mut Base<'_, '_>,
    ) -> Expanded<Option<Token>> {
        let number = |value: u32| Token::new(Kind::Number, &value.to_string(), name.space);
        let string = |value: &str| {
            let escaped = value.replace('\\', "\\\\").replace('"', "\\\"");
            Token::new(Kind::Str, &format!("\"{escaped}\""), name.space)
        };
        Ok(Some(match built_in {
            BuiltIn::Line => number(self.line_of(name.at)),
            BuiltIn::File => string(&self.name_at(name.at)),
            BuiltIn::BaseFile => string(&self.files[0].name),
            BuiltIn::IncludeLevel => number(self.reading.depth),
            BuiltIn::Counter => {
                self.counter += 1;
                number(self.counter - 1)
            }
            // What C compilers write where there is no clock: one program is one text at all times.
            BuiltIn::Date => string("??? ?? ????"),
            BuiltIn::Time => string("??:??:??"),
            BuiltIn::Timestamp => string("??? ??? ?? ??:??:?? ????"),
            BuiltIn::HasInclude | BuiltIn::HasIncludeNext => {
                if !self.expansion.in_directive {
                    return Err(ExpandError::HasInclude("is allowed only in `#if` and `#elif`"));
                }
                number(u32::from(self.has_include(built_in == BuiltIn::HasIncludeNext)?))
            }
            BuiltIn::Pragma if self.expansion.in_directive => return Ok(None),
            BuiltIn::Pragma => {
                self.pragma_operator(base)?;
                // It has a line of its own, which P4's lexer ignores.
                Token::new(Kind::Newline, "\n", false)
            }
        }))
    }

    /// The string behind `_Pragma`.
    fn pragma_operator(&mut self, base: &mut Base<'_, '_>) -> Expanded<()> {
        self.expansion.held += 1;
        let mut found = Vec::new();
        while found.len() < 3 {
            let token = self.next(base)?;
            if token.kind == Kind::End {
                break;
            }
            if !token.is_pad() {
                found.push(token);
            }
        }
        self.expansion.held -= 1;
        match &found[..] {
            [open, text, close] if open.is("(") && text.kind == Kind::Str && close.is(")") => {
                let inner = text.text.strip_prefix('"').and_then(|rest| rest.strip_suffix('"')).unwrap_or("");
                let plain = inner.replace("\\\"", "\"").replace("\\\\", "\\");
                self.pragma(&plain);
                Ok(())
            }
            _ => Err(ExpandError::Pragma),
        }
    }

    /// The next token of the file. With `ahead` it may be given back, so that no directive is carried out.
    fn base_token(&mut self, base: &mut Base<'_, '_>, ahead: bool) -> Expanded<Token> {
        let end = Token::new(Kind::End, "", false);
        let Base::File(file, scanner) = base else { return Ok(end) };
        let (mut space, mut line_start) = (false, false);
        loop {
            if self.stopped {
                return Ok(end);
            }
            if let Some(overrun) = self.options.budget.over() {
                return Err(ExpandError::Over(overrun));
            }
            let Some(piece) = scanner.next() else { return Ok(end) };
            let text = scanner.text(piece);
            match piece.kind {
                Kind::Blank => {
                    space = true;
                    continue;
                }
                Kind::Newline => {
                    (space, line_start) = (true, true);
                    continue;
                }
                _ => {}
            }
            let hash = line_start && text == "#";
            if hash && !ahead {
                let held = std::mem::take(&mut self.expansion.held);
                self.expansion.in_arguments = true;
                let done = self.directive(file, scanner, piece);
                self.expansion.in_arguments = false;
                self.expansion.held = held;
                if done {
                    continue;
                }
            }
            line_start = false;
            if !file.active() {
                continue;
            }
            let mut token = Token::new(piece.kind, text, space);
            token.at = if hash { HASH } else { piece.start as u32 };
            if piece.kind == Kind::Comment && text.starts_with("//") {
                // What follows on the line of the macro must not become part of it.
                let inner = text[2..].replace("*/", "||").replace("/*", "||");
                token.text = format!("/*{inner}*/").into();
            }
            return Ok(token);
        }
    }
}

/// Place of a `#` that begins a line.
const HASH: u32 = NOWHERE - 1;
