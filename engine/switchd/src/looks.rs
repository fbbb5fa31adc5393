//! Looks at the ports over a Unix socket, for pages that watch a lab: what P4Runtime has no request for.
//!
//! A client sends the line `look` and is answered with one line of JSON; anything else ends its connection:
//!
//! ```text
//! {"time_ns":1700000000000000000,"digests":0,
//!  "ports":[{"port":1,"depth_pkts":3,"dropped_pkts":0,"paused":false}]}
//! ```
//!
//! `time_ns` counts from the Epoch, `digests` are messages that the program made. The socket is its
//! owner's only.
//! One thread serves all clients: it waits for none of them, and holds the switch for one answer at a time.

use std::fmt::Write as _;
use std::fs::{self, DirBuilder, File, Permissions};
use std::io::{self, Read, Write};
use std::os::fd::AsRawFd;
use std::os::unix::fs::{DirBuilderExt, FileTypeExt, PermissionsExt};
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::Path;
use std::sync::Arc;
use std::thread::JoinHandle;
use std::time::Duration;

use p4cc_switch::Switch;
use p4cc_switch::config::PRIORITIES;

use crate::packet_io::sys;
use crate::scalability::SocketFile;
use crate::shared::Shared;

/// What a client asks.
const REQUEST: &[u8] = b"look\n";
/// Most clients at once; a later one is hung up on.
const MAX_CLIENTS: usize = 8;
/// Answers that one client gets before others have their turn.
const ANSWERS_IN_A_TURN: usize = 4;
/// How often the end of the daemon is looked for while nobody asks.
const TICK: Duration = Duration::from_millis(200);

/// Serves looks until the daemon stops.
pub(crate) struct Looks {
    thread: JoinHandle<()>,
    _file: SocketFile,
}

impl Looks {
    /// Listens at a path; a socket that a dead process left there is taken over.
    ///
    /// # Errors
    /// The path is taken, or nothing can be made there.
    pub fn open(path: &Path, shared: Arc<Shared>) -> io::Result<Self> {
        let listener = bind(path)?;
        let file = SocketFile::of(path);
        let thread = std::thread::Builder::new().name("looks".to_owned());
        let thread = thread.spawn(move || serve(&listener, &shared))?;
        Ok(Self { thread, _file: file })
    }

    /// Waits for the end, which the daemon has begun, and removes the socket.
    pub fn join(self) {
        // A thread that panicked has said so itself.
        let _ = self.thread.join();
    }
}

/// A listening socket that was never anybody else's to open: it is made in a folder of its owner's and moved.
fn bind(path: &Path) -> io::Result<UnixListener> {
    match fs::symlink_metadata(path) {
        Ok(found) if !found.file_type().is_socket() => return Err(io::ErrorKind::AlreadyExists.into()),
        Ok(_) if connect(path).is_ok() => return Err(io::ErrorKind::AddrInUse.into()),
        _ => {}
    }
    let mut made_in = path.as_os_str().to_owned();
    made_in.push(format!(".{}", std::process::id()));
    let made_in = Path::new(&made_in);
    DirBuilder::new().mode(0o700).create(made_in)?;
    let made = bind_in(made_in, path);
    // Only what failed leaves something in it.
    let _ = fs::remove_file(made_in.join(MADE));
    let _ = fs::remove_dir(made_in);
    made
}

/// The socket's name until it is moved.
const MADE: &str = "socket";

fn bind_in(folder: &Path, path: &Path) -> io::Result<UnixListener> {
    let opened = File::open(folder)?;
    let listener = UnixListener::bind(short(&opened, MADE))?;
    listener.set_nonblocking(true)?;
    fs::set_permissions(folder.join(MADE), Permissions::from_mode(0o600))?;
    fs::rename(folder.join(MADE), path)?;
    Ok(listener)
}

fn connect(path: &Path) -> io::Result<UnixStream> {
    let (Some(folder), Some(name)) = (path.parent(), path.file_name().and_then(|name| name.to_str())) else {
        return Err(io::ErrorKind::InvalidInput.into());
    };
    let folder = if folder.as_os_str().is_empty() { Path::new(".") } else { folder };
    UnixStream::connect(short(&File::open(folder)?, name))
}

/// A file of an open folder: addresses of sockets have 107 bytes at most.
fn short(folder: &File, name: &str) -> String {
    format!("/proc/self/fd/{}/{name}", folder.as_raw_fd())
}

/// A connection, and what has come of its next line.
struct Client {
    stream: UnixStream,
    line: [u8; REQUEST.len()],
    has: usize,
}

fn serve(listener: &UnixListener, shared: &Shared) {
    let mut clients: Vec<Client> = Vec::new();
    while !shared.is_stopping() {
        let mut fds: Vec<_> = clients.iter().map(|client| sys::readable(client.stream.as_raw_fd())).collect();
        fds.push(sys::readable(listener.as_raw_fd()));
        if let Err(error) = sys::wait(&mut fds, Some(TICK)) {
            tracing::error!(%error, "cannot wait for requests on --looks");
            std::thread::sleep(TICK);
        }
        let mut asked = fds.iter().map(|fd| fd.revents != 0);
        clients.retain_mut(|client| !asked.next().unwrap_or_default() || client.serve(shared));
        if asked.next().unwrap_or_default() {
            admit(listener, &mut clients);
        }
    }
}

fn admit(listener: &UnixListener, clients: &mut Vec<Client>) {
    let accepted = listener.accept().and_then(|(stream, _)| stream.set_nonblocking(true).map(|()| stream));
    match accepted {
        Ok(_) if clients.len() >= MAX_CLIENTS => {
            tracing::warn!("more than {MAX_CLIENTS} connections to --looks; one was refused");
        }
        Ok(stream) => clients.push(Client { stream, line: [0; REQUEST.len()], has: 0 }),
        Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
        Err(error) => {
            tracing::debug!(%error, "a connection to --looks failed");
            // Out of file descriptors, accepting fails at once.
            std::thread::sleep(Duration::from_millis(10));
        }
    }
}

impl Client {
    /// Answers what has come; false where the connection is over.
    fn serve(&mut self, shared: &Shared) -> bool {
        for _ in 0..ANSWERS_IN_A_TURN {
            let came = match self.stream.read(&mut self.line[self.has..]) {
                Ok(0) => return false,
                Ok(came) => came,
                Err(error) => return error.kind() == io::ErrorKind::WouldBlock,
            };
            self.has += came;
            if self.line[..self.has] != REQUEST[..self.has] {
                return false;
            }
            if self.has < REQUEST.len() {
                continue;
            }
            self.has = 0;
            let answer = look(shared);
            // Part of an answer leaves nothing to go on with.
            if !matches!(self.stream.write(answer.as_bytes()), Ok(written) if written == answer.len()) {
                return false;
            }
        }
        true
    }
}

/// One answer.
fn look(shared: &Shared) -> String {
    let switch = shared.switch.lock();
    let at = shared.clock.now();
    let (digests, ports) = (switch.observation().counters().digests, ports(&switch));
    drop(switch);
    let time_ns = shared.clock.since_epoch_ns(at);
    format!("{{\"time_ns\":{time_ns},\"digests\":{digests},\"ports\":[{ports}]}}\n")
}

fn ports(switch: &Switch) -> String {
    let mut text = String::new();
    for (place, config) in switch.config().ports.iter().enumerate() {
        let port = config.port;
        let depth_pkts = switch.observation().port_depth_pkts(port);
        let dropped_pkts = switch.observation().port_counters(port).map_or(0, |counters| counters.dropped());
        let paused =
            (0..PRIORITIES as u8).any(|priority| switch.observation().paused_since(port, priority).is_some());
        let comma = if place == 0 { "" } else { "," };
        // Writing to a text does not fail.
        let _ = write!(
            text,
            "{comma}{{\"port\":{port},\"depth_pkts\":{depth_pkts},\"dropped_pkts\":{dropped_pkts},\"paused\":{paused}}}"
        );
    }
    text
}

#[cfg(test)]
mod tests {
    use std::io::{BufRead, BufReader};
    use std::path::PathBuf;

    use p4cc_switch::config::DEFAULT_DROP_PORT;
    use p4cc_switch::{DEFAULT_PASS_LIMIT, Packet, PortConfig, SwitchConfig, TimestampUnit};
    use p4cc_units::{Rate, Time};
    use serde_json::{Value, json};

    use super::*;
    use crate::program;

    /// A switch whose port 1 holds 3 packets and sends none.
    fn shared() -> Arc<Shared> {
        let rate = Rate::from_bps(1);
        let ports = [0, 1].map(|port| PortConfig { port, rate, capacity_pkts: 3, ..PortConfig::default() });
        let mut switch = Switch::new(SwitchConfig {
            device_id: 0,
            ports: ports.to_vec(),
            buffer: None,
            timestamp_unit: TimestampUnit::Us,
            cpu_port: None,
            drop_port: DEFAULT_DROP_PORT,
            seed: 0,
            pass_limit: DEFAULT_PASS_LIMIT,
        })
        .expect("a good configuration");
        switch.control().set_pipeline(program::testing::to_port(1));
        for _ in 0..5 {
            switch.receive(Time::ZERO, 0, Packet::new(&[0; 14], 1_000));
        }
        switch.set_paused(Time::ZERO, 1, 3, true);
        Arc::new(Shared::new(switch).expect("sockets").0)
    }

    /// A folder of this test's, whose name alone is too long for a socket's address.
    fn folder(name: &str) -> PathBuf {
        let folder =
            std::env::temp_dir().join(format!("p4cc-looks-{name}-{}-{:0100}", std::process::id(), 0));
        fs::create_dir_all(&folder).expect("a folder");
        folder
    }

    fn read_end(stream: &mut UnixStream) -> Vec<u8> {
        stream.set_read_timeout(Some(Duration::from_secs(10))).expect("a timeout");
        let mut left = Vec::new();
        // A connection may end with what was not read of it.
        if let Err(error) = stream.read_to_end(&mut left) {
            assert_eq!(error.kind(), io::ErrorKind::ConnectionReset);
        }
        left
    }

    #[test]
    fn every_line_is_answered_with_depth_drops_and_pauses_of_each_port() {
        let (folder, shared) = (folder("answers"), shared());
        let path = folder.join("s1.socket");
        let looks = Looks::open(&path, Arc::clone(&shared)).expect("it listens");
        assert_eq!(fs::metadata(&path).expect("it is there").permissions().mode() & 0o777, 0o600);
        assert_eq!(fs::read_dir(&folder).expect("it is there").count(), 1, "the socket only");
        let mut stream = connect(&path).expect("it listens");
        let mut lines = BufReader::new(stream.try_clone().expect("it is open")).lines();
        for request in ["look\n", "look\nlook\n"] {
            // A line may come in parts.
            let (first, rest) = request.split_at(2);
            stream.write_all(first.as_bytes()).expect("it reads");
            std::thread::sleep(Duration::from_millis(5));
            stream.write_all(rest.as_bytes()).expect("it reads");
            for _ in request.lines() {
                let line = lines.next().expect("an answer").expect("text");
                let answer: Value = serde_json::from_str(&line).expect("JSON");
                assert!(answer["time_ns"].as_u64().expect("a number") > 1_600_000_000_000_000_000);
                let [idle, full] = [
                    json!({"port": 0, "depth_pkts": 0, "dropped_pkts": 0, "paused": false}),
                    json!({"port": 1, "depth_pkts": 3, "dropped_pkts": 2, "paused": true}),
                ];
                assert_eq!((&answer["ports"], &answer["digests"]), (&json!([idle, full]), &json!(0)));
            }
        }
        shared.stop();
        looks.join();
        assert!(!path.exists(), "the socket is gone");
        fs::remove_dir(folder).expect("it is empty");
    }

    #[test]
    fn what_is_no_request_ends_its_connection_and_no_other() {
        let (folder, shared) = (folder("hostile"), shared());
        let path = folder.join("s1.socket");
        let looks = Looks::open(&path, Arc::clone(&shared)).expect("it listens");
        let mut good = connect(&path).expect("it listens");
        for wrong in [&b"\n"[..], b"LOOK\n", b"look \n", b"lool", &[0; 100_000]] {
            let mut stream = connect(&path).expect("it listens");
            // It may have hung up before all was sent.
            let _ = stream.write_all(wrong);
            assert!(read_end(&mut stream).is_empty(), "no answer to {:?}", &wrong[..4.min(wrong.len())]);
        }
        // A client that asks and never reads is given up once its answers find no room.
        let mut deaf = connect(&path).expect("it listens");
        deaf.set_write_timeout(Some(Duration::from_secs(10))).expect("a timeout");
        while deaf.write_all(&REQUEST.repeat(100)).is_ok() {}
        let mut crowd: Vec<_> = (0..MAX_CLIENTS + 4).map(|_| connect(&path).expect("it listens")).collect();
        let mut last = crowd.pop().expect("there are some");
        assert!(read_end(&mut last).is_empty(), "one too many is refused");
        drop(crowd);
        good.write_all(REQUEST).expect("it reads");
        let mut answer = String::new();
        BufReader::new(&good).read_line(&mut answer).expect("an answer");
        assert!(answer.ends_with("]}\n"), "{answer}");
        shared.stop();
        looks.join();
        fs::remove_dir(folder).expect("it is empty");
    }

    #[test]
    fn a_path_that_is_taken_is_refused_and_one_that_was_left_is_taken_over() {
        let (folder, shared) = (folder("taken"), shared());
        let path = folder.join("s1.socket");
        fs::write(&path, "mine").expect("it can be written");
        let opened =
            |path: &Path| Looks::open(path, Arc::clone(&shared)).map(|_| ()).map_err(|error| error.kind());
        assert_eq!(opened(&path), Err(io::ErrorKind::AlreadyExists));
        fs::remove_file(&path).expect("it is there");
        let looks = Looks::open(&path, Arc::clone(&shared)).expect("it listens");
        assert_eq!(opened(&path), Err(io::ErrorKind::AddrInUse));
        assert_eq!(opened(&folder.join("missing").join("s1.socket")), Err(io::ErrorKind::NotFound));
        shared.stop();
        looks.join();
        // A process that was killed leaves its socket.
        drop(bind(&path).expect("it listens"));
        assert!(path.exists() && bind(&path).is_ok());
        fs::remove_dir_all(folder).expect("it is there");
    }
}
