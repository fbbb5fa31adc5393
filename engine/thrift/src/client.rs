//! A client: one call after the other over one connection.

use std::io::{self, BufReader};
use std::net::{TcpStream, ToSocketAddrs};
use std::time::Duration;

use crate::message::{Kind, Message};
use crate::value::{Fields, Value};

/// Longest wait for an answer.
const TIMEOUT: Duration = Duration::from_secs(30);

/// Why a call gave no result.
#[derive(Debug, thiserror::Error)]
pub enum CallError {
    /// The connection.
    #[error("{0}")]
    Connection(#[from] io::Error),
    /// The exception that the call declares.
    #[error("the switch refused the call with code {0}; its log says why")]
    Refused(i32),
    /// Any other failure, in the switch's words.
    #[error("{0}")]
    Failed(String),
}

/// A connection.
pub struct Client {
    from: BufReader<TcpStream>,
    to: TcpStream,
    sequence: i32,
}

impl Client {
    /// Connects.
    ///
    /// # Errors
    /// Nobody listens there.
    pub fn connect(addr: impl ToSocketAddrs) -> io::Result<Self> {
        let to = TcpStream::connect(addr)?;
        to.set_nodelay(true)?;
        to.set_read_timeout(Some(TIMEOUT))?;
        Ok(Self { from: BufReader::new(to.try_clone()?), to, sequence: 0 })
    }

    /// Calls `service:method` with arguments by their ids; gives its result, if it has one.
    ///
    /// # Errors
    /// The connection broke, or the switch refused.
    pub fn call<const N: usize>(
        &mut self,
        name: &str,
        args: [(i16, Value); N],
    ) -> Result<Option<Value>, CallError> {
        self.sequence = self.sequence.wrapping_add(1);
        let sequence = self.sequence;
        let call = Message { kind: Kind::Call, name: name.to_owned(), sequence, fields: args.into() };
        call.write(false, &mut self.to)?;
        let (answer, _) = Message::read(&mut self.from)?.ok_or_else(|| {
            io::Error::new(io::ErrorKind::UnexpectedEof, "the switch closed the connection")
        })?;
        result(answer)
    }
}

fn result(answer: Message) -> Result<Option<Value>, CallError> {
    let mut fields: Fields = answer.fields;
    match (answer.kind, fields.remove(&1)) {
        (Kind::Exception, Some(Value::String(text))) => {
            Err(CallError::Failed(String::from_utf8_lossy(&text).into_owned()))
        }
        (Kind::Reply, None) => Ok(fields.remove(&0)),
        (Kind::Reply, Some(Value::Struct(exception))) => match exception.get(&1) {
            Some(Value::I32(code)) => Err(CallError::Refused(*code)),
            _ => Err(CallError::Failed("the switch refused the call".to_owned())),
        },
        _ => Err(CallError::Failed("the answer is not a reply".to_owned())),
    }
}
