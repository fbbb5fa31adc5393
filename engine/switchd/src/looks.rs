//! Looks at the ports over a Unix socket, for pages that watch a lab: what P4Runtime has no request for.
//!
//! A client sends a line and is answered with one line of JSON; anything else ends its connection:
//!
//! ```text
//! look      {"time_ns":1700000000000000000,"digests":0,
//!            "ports":[{"port":1,"depth_pkts":3,"dropped_pkts":0,"paused":false}]}
//! follow 3  {"follows":3}                   the next packets; {"refused":CAUSE} where it cannot
//! ended     {"ended":2}                     packets that the switch is through with
//! steps     {"steps":[...],"is_all":false}  what they did, part by part; it follows none any more
//! ```
//!
//! Times count from the Epoch, `digests` are messages that the program made. One client follows packets at a
//! time, until it has the first of their steps or hangs up. The socket is its owner's only.
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

use p4cc_switch::config::PRIORITIES;
use p4cc_switch::{FollowedStep, Switch};
use serde_json::{Value, json};

use crate::packet_io::sys;
use crate::scalability::SocketFile;
use crate::shared::Shared;

/// What a client asks, but for `follow`.
const REQUESTS: [&[u8]; 3] = [b"look\n", b"ended\n", b"steps\n"];
/// The request that has a number, with two digits at most.
const FOLLOW: &[u8] = b"follow ";
const MAX_REQUEST: usize = FOLLOW.len() + 3;
/// Bytes of steps in one answer, unless the first has more: an answer has to find room in the socket.
const STEPS_BYTES: usize = 48 * 1024;
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
    /// Listens at a path; a socket that a dead process left there is taken over. `traces_all`: the log takes
    /// the steps of all packets.
    ///
    /// # Errors
    /// The path is taken, or nothing can be made there.
    pub fn open(path: &Path, shared: Arc<Shared>, traces_all: bool) -> io::Result<Self> {
        let listener = bind(path)?;
        let file = SocketFile::of(path);
        let thread = std::thread::Builder::new().name("looks".to_owned());
        let thread = thread.spawn(move || serve(&listener, &shared, traces_all))?;
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
    line: [u8; MAX_REQUEST],
    has: usize,
    following: Following,
}

/// A client's packets.
#[derive(Default)]
enum Following {
    #[default]
    Nothing,
    /// The switch follows so many.
    Packets(usize),
    /// Steps as JSON that the client has not had yet, the next one last.
    Steps(Vec<String>),
}

fn serve(listener: &UnixListener, shared: &Shared, traces_all: bool) {
    let mut clients: Vec<Client> = Vec::new();
    let mut desk = Desk { shared, is_taken: traces_all };
    while !shared.is_stopping() {
        let mut fds: Vec<_> = clients.iter().map(|client| sys::readable(client.stream.as_raw_fd())).collect();
        fds.push(sys::readable(listener.as_raw_fd()));
        if let Err(error) = sys::wait(&mut fds, Some(TICK)) {
            tracing::error!(%error, "cannot wait for requests on --looks");
            std::thread::sleep(TICK);
        }
        let mut asked = fds.iter().map(|fd| fd.revents != 0);
        clients.retain_mut(|client| {
            let stays = !asked.next().unwrap_or_default() || client.serve(&mut desk);
            if !stays {
                desk.give_up(&mut client.following);
            }
            stays
        });
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
        Ok(stream) => {
            clients.push(Client { stream, line: [0; MAX_REQUEST], has: 0, following: Following::default() })
        }
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
    fn serve(&mut self, desk: &mut Desk<'_>) -> bool {
        for _ in 0..ANSWERS_IN_A_TURN {
            // To the end of one line, for the next may be here already.
            while !self.line[..self.has].ends_with(b"\n") {
                match self.stream.read(&mut self.line[self.has..=self.has]) {
                    Ok(0) => return false,
                    Ok(_) => self.has += 1,
                    Err(error) => return error.kind() == io::ErrorKind::WouldBlock,
                }
                if !may_become_request(&self.line[..self.has]) {
                    return false;
                }
            }
            let answer = desk.answer(&self.line[..self.has], &mut self.following);
            self.has = 0;
            // Part of an answer leaves nothing to go on with.
            if !matches!(self.stream.write(answer.as_bytes()), Ok(written) if written == answer.len()) {
                return false;
            }
        }
        true
    }
}

/// Whether a request begins so; one that is whole ends its line.
fn may_become_request(line: &[u8]) -> bool {
    let is_number = |digits: &[u8]| {
        digits.len() <= 2 && digits.first() != Some(&b'0') && digits.iter().all(u8::is_ascii_digit)
    };
    REQUESTS.iter().any(|request| request.starts_with(line))
        || FOLLOW.starts_with(line)
        || line.strip_prefix(FOLLOW).is_some_and(|rest| match rest.strip_suffix(b"\n") {
            Some(digits) => is_number(digits) && !digits.is_empty(),
            None => is_number(rest),
        })
}

/// Answers requests.
struct Desk<'a> {
    shared: &'a Shared,
    /// The switch traces packets for somebody.
    is_taken: bool,
}

impl Desk<'_> {
    /// The answer to a whole request.
    fn answer(&mut self, request: &[u8], following: &mut Following) -> String {
        let mut answer = match request {
            b"look\n" => look(self.shared),
            b"ended\n" => json!({ "ended": self.ended(following) }).to_string(),
            b"steps\n" => self.steps(following),
            _ => {
                let digits = request.strip_prefix(FOLLOW).unwrap_or_default();
                let packets = digits.iter().filter(|digit| digit.is_ascii_digit());
                self.follow(packets.fold(0, |sum, digit| sum * 10 + usize::from(digit - b'0')), following)
            }
        };
        answer.push('\n');
        answer
    }

    fn follow(&mut self, packets: usize, following: &mut Following) -> String {
        self.give_up(following);
        if self.is_taken {
            return json!({ "refused": "the switch traces packets already" }).to_string();
        }
        let packets = packets.min(p4cc_switch::MAX_FOLLOWED);
        self.shared.switch.lock().follow_next(packets);
        self.is_taken = true;
        *following = Following::Packets(packets);
        json!({ "follows": packets }).to_string()
    }

    fn ended(&self, following: &Following) -> usize {
        match following {
            Following::Packets(packets) => {
                self.shared.switch.lock().followed_to_the_end().len().min(*packets)
            }
            _ => 0,
        }
    }

    /// As many steps as fit; the first such answer ends the following.
    fn steps(&mut self, following: &mut Following) -> String {
        if let Following::Packets(packets) = following {
            let steps = self.shared.switch.lock().take_followed(*packets);
            self.is_taken = false;
            *following = Following::Steps(steps.iter().rev().map(|step| self.step(step)).collect());
        }
        let Following::Steps(left) = following else {
            return json!({ "refused": "this client follows no packets" }).to_string();
        };
        let mut part = String::new();
        while let Some(step) = left.pop_if(|step| part.is_empty() || part.len() + step.len() < STEPS_BYTES) {
            if !part.is_empty() {
                part.push(',');
            }
            part.push_str(&step);
        }
        let is_all = left.is_empty();
        if is_all {
            *following = Following::Nothing;
        }
        format!("{{\"steps\":[{part}],\"is_all\":{is_all}}}")
    }

    fn step(&self, FollowedStep { packet, at, step }: &FollowedStep) -> String {
        let mut step = serde_json::to_value(step).unwrap_or_default();
        step["packet"] = Value::from(*packet);
        step["time_ns"] = Value::from(self.shared.clock.since_epoch_ns(*at));
        step.to_string()
    }

    /// Ends what a client follows.
    fn give_up(&mut self, following: &mut Following) {
        if let Following::Packets(_) = std::mem::take(following) {
            self.shared.switch.lock().control().set_tracing(false);
            self.is_taken = false;
        }
    }
}

/// The ports.
fn look(shared: &Shared) -> String {
    let switch = shared.switch.lock();
    let at = shared.clock.now();
    let (digests, ports) = (switch.observation().counters().digests, ports(&switch));
    drop(switch);
    let time_ns = shared.clock.since_epoch_ns(at);
    format!("{{\"time_ns\":{time_ns},\"digests\":{digests},\"ports\":[{ports}]}}")
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

    use super::*;
    use crate::program;

    const LOOK: &[u8] = b"look\n";

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
            deflect_on_drop: false,
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
        let looks = Looks::open(&path, Arc::clone(&shared), false).expect("it listens");
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

    /// Asks over a connection.
    fn asked(stream: &UnixStream, request: &str) -> Value {
        let mut stream = stream;
        stream.write_all(request.as_bytes()).expect("it reads");
        let mut line = String::new();
        BufReader::new(stream).read_line(&mut line).expect("an answer");
        serde_json::from_str(&line).expect("JSON")
    }

    /// A packet that port 1 has no room for.
    fn drop_packet(shared: &Shared) {
        shared.switch.lock().receive(shared.clock.now(), 0, Packet::new(&[0; 14], 1_000));
    }

    #[test]
    fn one_client_follows_packets_until_it_has_their_steps_or_hangs_up() {
        let (folder, shared) = (folder("follows"), shared());
        let path = folder.join("s1.socket");
        let looks = Looks::open(&path, Arc::clone(&shared), false).expect("it listens");
        let [first, second] = [(); 2].map(|()| connect(&path).expect("it listens"));
        let none = json!({"refused": "this client follows no packets"});
        assert_eq!(asked(&first, "steps\n"), none);
        assert_eq!(asked(&first, "follow 2\n"), json!({"follows": 2}));
        assert_eq!(asked(&second, "follow 1\n"), json!({"refused": "the switch traces packets already"}));
        for ended in 0..=3 {
            assert_eq!(asked(&first, "ended\n"), json!({"ended": ended.min(2)}));
            drop_packet(&shared);
        }
        let mut steps: Vec<Value> = Vec::new();
        loop {
            let answer = asked(&first, "steps\n");
            steps.extend(answer["steps"].as_array().expect("steps").clone());
            if answer["is_all"] == json!(true) {
                break;
            }
        }
        let of = |packet: u64| steps.iter().filter(move |step| step["packet"] == json!(packet));
        for packet in [1, 2] {
            let names: Vec<&Value> = of(packet).map(|step| &step["step"]).collect();
            assert_eq!((names.first(), names.last()), (Some(&&json!("received")), Some(&&json!("dropped"))));
        }
        assert!(of(3).next().is_none());
        assert!(steps.iter().all(|step| step["time_ns"].as_u64() > Some(1_600_000_000_000_000_000)));
        assert_eq!(asked(&first, "steps\n"), none);
        // Who hangs up leaves the switch to others.
        assert_eq!(asked(&second, "follow 1\n"), json!({"follows": 1}));
        drop(second);
        while asked(&first, "follow 1\n").get("refused").is_some() {
            std::thread::sleep(Duration::from_millis(5));
        }
        shared.stop();
        looks.join();
        fs::remove_dir(folder).expect("it is empty");
    }

    #[test]
    fn what_is_no_request_ends_its_connection_and_no_other() {
        let (folder, shared) = (folder("hostile"), shared());
        let path = folder.join("s1.socket");
        let looks = Looks::open(&path, Arc::clone(&shared), false).expect("it listens");
        let mut good = connect(&path).expect("it listens");
        let numbers = [&b"follow \n"[..], b"follow 0\n", b"follow 00", b"follow 100", b"follow -1"];
        let words = [&b"\n"[..], b"LOOK\n", b"look \n", b"lool", b"followed", &[0; 100_000]];
        for wrong in numbers.into_iter().chain(words) {
            let mut stream = connect(&path).expect("it listens");
            // It may have hung up before all was sent.
            let _ = stream.write_all(wrong);
            assert!(read_end(&mut stream).is_empty(), "no answer to {:?}", &wrong[..4.min(wrong.len())]);
        }
        // A client that asks and never reads is given up once its answers find no room.
        let mut deaf = connect(&path).expect("it listens");
        deaf.set_write_timeout(Some(Duration::from_secs(10))).expect("a timeout");
        while deaf.write_all(&LOOK.repeat(100)).is_ok() {}
        let mut crowd: Vec<_> = (0..MAX_CLIENTS + 4).map(|_| connect(&path).expect("it listens")).collect();
        let mut last = crowd.pop().expect("there are some");
        assert!(read_end(&mut last).is_empty(), "one too many is refused");
        drop(crowd);
        good.write_all(LOOK).expect("it reads");
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
        let opened = |path: &Path| {
            Looks::open(path, Arc::clone(&shared), false).map(|_| ()).map_err(|error| error.kind())
        };
        assert_eq!(opened(&path), Err(io::ErrorKind::AlreadyExists));
        fs::remove_file(&path).expect("it is there");
        let looks = Looks::open(&path, Arc::clone(&shared), false).expect("it listens");
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
