//! A client that speaks to the server as an editor does: JSON-RPC over pipes.

use lsp_server::{Message, Notification, Request, RequestId};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::io::BufReader;
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::Duration;

/// Far longer than any answer takes.
const PATIENCE: Duration = Duration::from_secs(60);

/// A running server with a folder of files.
pub struct Client {
    child: Child,
    stdin: Option<ChildStdin>,
    messages: Receiver<Message>,
    next_id: i32,
    versions: BTreeMap<String, i32>,
    folder: PathBuf,
}

impl Client {
    /// Starts a server; `name` is that of the test.
    pub fn start(name: &str) -> Self {
        Self::start_with(name, json!({}))
    }

    /// With some capabilities of the client.
    pub fn start_with(name: &str, capabilities: Value) -> Self {
        let folder =
            Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("lsp-{name}-{}", std::process::id()));
        std::fs::create_dir_all(&folder).expect("a folder");
        let mut child = Command::new(env!("CARGO_BIN_EXE_p4cc-lsp"))
            .env("XDG_CACHE_HOME", folder.join("cache"))
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("the server starts");
        let (to, messages) = channel();
        let mut from = BufReader::new(child.stdout.take().expect("a pipe"));
        std::thread::spawn(move || {
            while let Ok(Some(message)) = Message::read(&mut from) {
                if to.send(message).is_err() {
                    return;
                }
            }
        });
        let stdin = child.stdin.take();
        let mut client = Self { child, stdin, messages, next_id: 0, versions: BTreeMap::new(), folder };
        client.ask("initialize", json!({ "capabilities": capabilities })).expect("the server initialises");
        client.tell("initialized", json!({}));
        client
    }

    /// Path of a file of the folder.
    pub fn path(&self, name: &str) -> PathBuf {
        self.folder.join(name)
    }

    /// Address of a file of the folder.
    pub fn uri(&self, name: &str) -> String {
        format!("file://{}", self.path(name).display())
    }

    /// Writes a file of the folder.
    pub fn write(&self, name: &str, text: &str) {
        let path = self.path(name);
        std::fs::create_dir_all(path.parent().expect("a folder")).expect("a folder");
        std::fs::write(path, text).expect("the file is written");
    }

    /// Sends a notification.
    pub fn tell(&mut self, method: &str, params: Value) {
        self.send(Notification::new(method.to_owned(), params).into());
    }

    fn send(&mut self, message: Message) {
        message.write(self.stdin.as_mut().expect("the server listens")).expect("the server reads");
    }

    /// Sends a request; its id.
    pub fn request(&mut self, method: &str, params: Value) -> i32 {
        self.next_id += 1;
        let id = RequestId::from(self.next_id);
        self.send(Request::new(id, method.to_owned(), params).into());
        self.next_id
    }

    /// Sends a request and waits for its answer; what else comes is dropped.
    pub fn ask(&mut self, method: &str, params: Value) -> Result<Value, Value> {
        let id = self.request(method, params);
        self.answer(id)
    }

    /// Waits for the answer to a request.
    pub fn answer(&mut self, id: i32) -> Result<Value, Value> {
        loop {
            if let Message::Response(response) = self.next()
                && response.id == RequestId::from(id)
            {
                return response.response_result.map_err(|error| json!(error));
            }
        }
    }

    fn next(&mut self) -> Message {
        self.messages.recv_timeout(PATIENCE).expect("the server answers")
    }

    /// Opens a document of the folder.
    pub fn open(&mut self, name: &str, text: &str) {
        let uri = self.uri(name);
        self.versions.insert(name.to_owned(), 1);
        let document = json!({ "uri": uri, "languageId": "p4", "version": 1, "text": text });
        self.tell("textDocument/didOpen", json!({ "textDocument": document }));
    }

    /// Replaces the text of a document, or some ranges of it.
    pub fn change(&mut self, name: &str, changes: Value) {
        let version = self.versions.get_mut(name).expect("the document is open");
        *version += 1;
        let document =
            json!({ "uri": format!("file://{}", self.folder.join(name).display()), "version": version });
        self.tell("textDocument/didChange", json!({ "textDocument": document, "contentChanges": changes }));
    }

    /// Waits for the diagnostics of a document's last version: `line: message`.
    pub fn diagnostics(&mut self, name: &str) -> Vec<String> {
        let (uri, version) = (self.uri(name), self.versions.get(name).copied());
        loop {
            let Message::Notification(note) = self.next() else { continue };
            let params = note.params;
            let is_last = params["version"] == json!(version) || version.is_none();
            if note.method == "textDocument/publishDiagnostics" && params["uri"] == json!(uri) && is_last {
                let found = params["diagnostics"].as_array().expect("a list");
                return found
                    .iter()
                    .map(|one| {
                        let line = one["range"]["start"]["line"].as_u64().expect("a line") + 1;
                        format!("{line}: {}", one["message"].as_str().expect("a message"))
                    })
                    .collect();
            }
        }
    }

    /// Asks about a position of a document.
    pub fn at(&mut self, method: &str, name: &str, position: Value) -> Result<Value, Value> {
        self.ask(method, json!({ "textDocument": { "uri": self.uri(name) }, "position": position }))
    }

    /// Calls of `read` that the thread with the server's loop made: it waits for channels, which take none.
    pub fn reads(&self) -> u64 {
        let id = self.child.id();
        let counts = std::fs::read_to_string(format!("/proc/{id}/task/{id}/io")).expect("the kernel counts");
        let reads = counts.lines().find_map(|line| line.strip_prefix("syscr: "));
        reads.and_then(|count| count.parse().ok()).expect("a number")
    }

    /// Ends the server as the protocol wants it.
    pub fn end(mut self) {
        self.ask("shutdown", Value::Null).expect("the server shuts down");
        self.tell("exit", Value::Null);
        self.stdin = None;
        let ended = self.child.wait().expect("the server ends");
        assert!(ended.success());
        let _ = std::fs::remove_dir_all(&self.folder);
    }
}

impl Drop for Client {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// A text without its mark `$0`, and the position of the mark.
pub fn marked(text: &str) -> (String, Value) {
    let at = text.find("$0").expect("a mark");
    let before = &text[..at];
    let line = before.matches('\n').count();
    let column = before.len() - before.rfind('\n').map_or(0, |at| at + 1);
    (text.replacen("$0", "", 1), json!({ "line": line, "character": column }))
}

/// The position of the nth place of a word.
pub fn position(text: &str, word: &str, nth: usize) -> Value {
    let (at, _) = text.match_indices(word).nth(nth).expect("the word");
    marked(&format!("{}$0{}", &text[..at], &text[at..])).1
}
