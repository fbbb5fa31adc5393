//! `#assert`, `#unassert` and `#NAME(ANSWER)` in conditions: names with answers, apart from macros. GCC has
//! them from System V and warns of them.
//!
//! Neither names nor answers are expanded; answers are equal if their tokens and the blanks between them are.

use super::Job;
use super::directive::Line;
use super::expand::Expanded;
use super::file::FileJob;
use super::scan::Kind;
use super::token::Token;
use crate::diag::Diagnostic;
use std::rc::Rc;

/// The tokens between the parentheses, and whether white space is before each but the first.
pub(super) type Answer = Vec<(Rc<str>, bool)>;

/// Who reads a name and its answer.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Reader {
    Assert,
    Unassert,
    Condition,
}

/// A name, and its answer if there is one; or what is wrong.
type Named = Result<(Rc<str>, Option<Answer>), String>;

impl Job<'_> {
    /// `#assert NAME(ANSWER)`, `#unassert NAME` or `#unassert NAME(ANSWER)`.
    pub(super) fn assertion_line(&mut self, job: &FileJob, line: &Line) {
        let reader = if line.name == "assert" { Reader::Assert } else { Reader::Unassert };
        let span = self.out.anchor(job.index, line.start, line.end);
        let message = format!("`#{}` is a deprecated extension of GCC", line.name);
        self.report(Diagnostic::warning(span, message).with_help("use `#define` and `#if`"));
        let read = self.in_line(&line.tokens, line.start, |this| {
            let named = this.assertion(reader)?;
            let mut left = 0;
            while this.next_word()?.kind != Kind::End {
                left += 1;
            }
            this.count(line.tokens.len(), 0)?;
            Ok((named, left))
        });
        match read {
            Err(cause) => self.expand_error(job.index, line.start, line.end, cause),
            Ok((Err(wrong), _)) => self.line_error(job, line, &format!("`#{}`: {wrong}", line.name)),
            Ok((Ok((name, answer)), left)) => {
                self.extra_tokens(job, line, line.tokens.len() - left);
                match (reader, answer) {
                    (Reader::Unassert, None) => drop(self.asserted.remove(&name)),
                    (Reader::Unassert, Some(answer)) => {
                        if let Some(answers) = self.asserted.get_mut(&name) {
                            answers.retain(|one| *one != answer);
                        }
                    }
                    (_, answer) => self.asserted.entry(name).or_default().extend(answer),
                }
            }
        }
    }

    /// Whether what follows a `#` of a condition was asserted.
    pub(super) fn is_asserted(&mut self) -> Expanded<Result<bool, String>> {
        Ok(self.assertion(Reader::Condition)?.map(|(name, answer)| {
            let answers = self.asserted.get(&name).map_or(&[][..], Vec::as_slice);
            answer.map_or(!answers.is_empty(), |answer| answers.contains(&answer))
        }))
    }

    fn assertion(&mut self, reader: Reader) -> Expanded<Named> {
        self.expansion.held += 1;
        let named = self.name_and_answer(reader);
        self.expansion.held -= 1;
        named
    }

    fn name_and_answer(&mut self, reader: Reader) -> Expanded<Named> {
        let name = self.next_word()?;
        if name.kind != Kind::Ident {
            return Ok(Err("a name is missing".to_owned()));
        }
        let open = self.next_word()?;
        if !open.is("(") {
            return Ok(match reader {
                Reader::Condition => {
                    self.unread(&open);
                    Ok((name.text, None))
                }
                Reader::Unassert if open.kind == Kind::End => Ok((name.text, None)),
                _ => Err(format!("`(` is missing after `{}`", name.text)),
            });
        }
        let mut answer = Answer::new();
        loop {
            let token: Token = self.next_word()?;
            if token.kind == Kind::End {
                return Ok(Err(format!("`)` is missing after the answer of `{}`", name.text)));
            }
            if token.is(")") {
                break;
            }
            answer.push((token.text, token.space && !answer.is_empty()));
        }
        if answer.is_empty() {
            return Ok(Err(format!("the answer of `{}` is empty", name.text)));
        }
        Ok(Ok((name.text, Some(answer))))
    }
}
