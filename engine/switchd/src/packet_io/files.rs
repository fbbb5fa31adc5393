//! Ports as pairs of pcap files: BMv2's `--use-files`, through which p4c's test runner drives a switch.
//!
//! `NAME_in.pcap` holds what a port receives, `NAME_out.pcap` what it sends, each packet at once. As in
//! BMv2, packets are received in the order of their timestamps over all ports, without waiting for the times
//! themselves. The files may be pipes: a packet then waits until every other pipe has one or has ended.

use std::fs::File;
use std::io::{self, BufReader, Read};
use std::os::fd::{AsRawFd, RawFd};
use std::os::unix::net::UnixDatagram;
use std::sync::Arc;
use std::time::Duration;

use p4cc_switch::{MAX_PACKET_BYTES, Packet, PacketPool};
use parking_lot::{Condvar, Mutex};

use crate::capture::Pcap;

/// Bytes of a file's header and of a record's.
const FILE_HEADER: usize = 24;
const RECORD_HEADER: usize = 16;
/// Magic numbers: timestamps in microseconds, and in nanoseconds.
const MAGIC: [u32; 2] = [0xa1b2_c3d4, 0xa1b2_3c4d];

/// One port.
pub(crate) struct FilePort {
    inbox: UnixDatagram,
    taken: Arc<Taken>,
    out: Pcap,
    buffer: Vec<u8>,
}

impl FilePort {
    pub fn raw_fd(&self) -> RawFd {
        self.inbox.as_raw_fd()
    }

    pub fn receive(&mut self, pool: &mut PacketPool) -> Option<Packet> {
        let length = self.inbox.recv(&mut self.buffer).ok()?;
        self.taken.add_one();
        Some(pool.take_with(self.buffer.get(..length)?))
    }

    /// Writes packets, in order; how many the file did not take.
    pub fn send(&mut self, packets: &[Packet]) -> u64 {
        packets.iter().for_each(|packet| self.out.write(packet));
        self.out.flush();
        if self.out.is_open() { 0 } else { packets.len() as u64 }
    }
}

/// How many packets the data plane has taken from all ports together.
#[derive(Default)]
struct Taken {
    count: Mutex<u64>,
    more: Condvar,
}

impl Taken {
    fn add_one(&self) {
        *self.count.lock() += 1;
        self.more.notify_one();
    }

    fn wait_for(&self, count: u64) {
        self.more.wait_while(&mut self.count.lock(), |taken| *taken < count);
    }
}

/// Opens the files of ports, given as number and name, in this order. A pipe is open when its other end is
/// and has sent the file's header. Packets come in after `wait`.
///
/// # Errors
/// A file is missing, cannot be made or does not begin as a pcap file does.
pub(crate) fn open(ports: &[(u32, &str)], wait: Duration) -> Result<Vec<FilePort>, (String, io::Error)> {
    let taken = Arc::<Taken>::default();
    let (mut found, mut sources) = (Vec::new(), Vec::new());
    for (_, name) in ports {
        let [path, out] = ["in", "out"].map(|direction| format!("{name}_{direction}.pcap"));
        let reader = File::open(&path).and_then(Records::new).map_err(|error| (path.clone(), error))?;
        let out = Pcap::create(out.clone().into()).map_err(|error| (out, error))?;
        let (inbox, outlet) = UnixDatagram::pair().map_err(|error| (path.clone(), error))?;
        inbox.set_nonblocking(true).map_err(|error| (path.clone(), error))?;
        let buffer = vec![0; MAX_PACKET_BYTES as usize];
        found.push(FilePort { inbox, taken: Arc::clone(&taken), out, buffer });
        sources.push(Source { path, records: Some(reader), outlet, next: None });
    }
    let replay = move || {
        std::thread::sleep(wait);
        replay(&mut sources, &taken);
    };
    let thread = std::thread::Builder::new().name("files".to_owned()).spawn(replay);
    thread.map(|_| found).map_err(|error| (String::from("thread"), error))
}

/// Hands the packets of all files to their ports, one after another in the order of their timestamps.
fn replay(sources: &mut [Source], taken: &Taken) {
    sources.iter_mut().for_each(Source::advance);
    let (mut sent, mut last) = (0, None);
    loop {
        let waiting =
            sources.iter().enumerate().filter_map(|(at, source)| Some((source.next.as_ref()?.at, at)));
        let Some((_, at)) = waiting.min() else { break };
        // Ports are looked at in turn: another one may have a packet only when nothing else is on its way.
        if last != Some(at) {
            taken.wait_for(sent);
        }
        let source = &mut sources[at];
        let Some(record) = source.next.take() else { break };
        // An empty datagram could not be told from none.
        if !record.bytes.is_empty() {
            if source.outlet.send(&record.bytes).is_err() {
                // The switch has stopped.
                break;
            }
            sent += 1;
        }
        last = Some(at);
        source.advance();
    }
    tracing::debug!(packets = sent, "all files have been read");
}

/// The file of what a port receives.
struct Source {
    path: String,
    /// None after the last packet.
    records: Option<Records<BufReader<File>>>,
    outlet: UnixDatagram,
    next: Option<Record>,
}

impl Source {
    /// Reads the next packet, which on a pipe may take as long as its writer does.
    fn advance(&mut self) {
        self.next = match self.records.as_mut().map(Records::next).transpose() {
            Ok(next) => next.flatten(),
            Err(error) => {
                tracing::error!(file = self.path, %error, "no more packets are read from this file");
                None
            }
        };
        if self.next.is_none() {
            self.records = None;
        }
    }
}

/// A packet of a file.
#[derive(Debug, PartialEq, Eq)]
struct Record {
    /// Seconds and their fraction, in the file's unit.
    at: (u32, u32),
    bytes: Vec<u8>,
}

/// The packets of a file in the format of libpcap, in either byte order.
struct Records<R> {
    reader: R,
    is_big_endian: bool,
}

impl Records<BufReader<File>> {
    fn new(file: File) -> io::Result<Self> {
        Self::read(BufReader::new(file))
    }
}

impl<R: Read> Records<R> {
    fn read(mut reader: R) -> io::Result<Self> {
        let mut header = [0; FILE_HEADER];
        reader.read_exact(&mut header)?;
        let magic = [header[0], header[1], header[2], header[3]];
        let is_big_endian = MAGIC.contains(&u32::from_be_bytes(magic));
        if !is_big_endian && !MAGIC.contains(&u32::from_le_bytes(magic)) {
            return Err(wrong("not a pcap file (pcapng files must be converted: editcap -F pcap)"));
        }
        Ok(Self { reader, is_big_endian })
    }

    /// The next packet; none at the end of the file.
    fn next(&mut self) -> io::Result<Option<Record>> {
        let mut header = Vec::with_capacity(RECORD_HEADER);
        self.reader.by_ref().take(RECORD_HEADER as u64).read_to_end(&mut header)?;
        let Ok(header) = <[u8; RECORD_HEADER]>::try_from(header.as_slice()) else {
            return if header.is_empty() { Ok(None) } else { Err(io::ErrorKind::UnexpectedEof.into()) };
        };
        let word = |at: usize| {
            let word = [header[at], header[at + 1], header[at + 2], header[at + 3]];
            if self.is_big_endian { u32::from_be_bytes(word) } else { u32::from_le_bytes(word) }
        };
        let (captured, length) = (word(8), word(12));
        if captured != length {
            return Err(wrong("a packet was not captured whole"));
        }
        if length > MAX_PACKET_BYTES {
            return Err(wrong("a packet is too long"));
        }
        let mut bytes = vec![0; length as usize];
        self.reader.read_exact(&mut bytes)?;
        Ok(Some(Record { at: (word(0), word(4)), bytes }))
    }
}

fn wrong(cause: &'static str) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, cause)
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::path::PathBuf;
    use std::time::Instant;

    use super::*;
    use proptest::prelude::*;

    fn folder(name: &str) -> PathBuf {
        let folder = std::env::temp_dir().join(format!("p4cc-files-{name}-{}", std::process::id()));
        fs::create_dir_all(&folder).expect("a folder");
        folder
    }

    /// A file with packets of one byte at these seconds.
    fn file(packets: &[(u32, u8)], word: fn(u32) -> [u8; 4]) -> Vec<u8> {
        let mut bytes: Vec<u8> = [MAGIC[0], 0x0002_0004, 0, 0, 65_535, 1].map(word).concat();
        for (at, byte) in packets {
            bytes.extend([*at, 0, 1, 1].map(word).concat());
            bytes.push(*byte);
        }
        bytes
    }

    /// The bytes of the next packet of any port, and its port's place.
    fn next(ports: &mut [FilePort]) -> (usize, u8) {
        let (mut pool, end) = (PacketPool::default(), Instant::now() + Duration::from_secs(10));
        loop {
            for (at, port) in ports.iter_mut().enumerate() {
                if let Some(packet) = port.receive(&mut pool) {
                    return (at, packet.to_vec()[0]);
                }
            }
            assert!(Instant::now() < end, "nothing came");
            std::thread::sleep(Duration::from_millis(1));
        }
    }

    #[test]
    fn packets_come_in_the_order_of_their_times_over_all_files() {
        let folder = folder("order");
        let name = |port: u32| folder.join(format!("pcap{port}")).display().to_string();
        let first = file(&[(1, 10), (4, 11), (4, 12)], u32::to_be_bytes);
        let second = file(&[(1, 20), (2, 21), (3, 22), (5, 23)], u32::to_le_bytes);
        fs::write(format!("{}_in.pcap", name(0)), first).expect("a file");
        fs::write(format!("{}_in.pcap", name(7)), second).expect("a file");
        let names = [(0, name(0)), (7, name(7))];
        let names = names.each_ref().map(|(port, name)| (*port, name.as_str()));
        let mut ports = open(&names, Duration::ZERO).expect("two files");
        let came: Vec<_> = (0..7).map(|_| next(&mut ports)).collect();
        assert_eq!(came, [(0, 10), (1, 20), (1, 21), (1, 22), (0, 11), (0, 12), (1, 23)]);
        assert_eq!(ports[1].send(&[Packet::new(&[9], 1)]), 0);
        let sent = fs::read(format!("{}_out.pcap", name(7))).expect("a file");
        assert_eq!(sent[FILE_HEADER + RECORD_HEADER..], [9, 0]);
        fs::remove_dir_all(&folder).expect("it was made above");
    }

    #[test]
    fn files_that_are_missing_or_not_pcap_are_named() {
        let folder = folder("wrong");
        let name = folder.join("pcap0").display().to_string();
        let (path, _) = open(&[(0, &name)], Duration::ZERO).map(|_| ()).expect_err("it is missing");
        assert_eq!(path, format!("{name}_in.pcap"));
        fs::write(&path, [0; 100]).expect("a file");
        let (_, error) = open(&[(0, &name)], Duration::ZERO).map(|_| ()).expect_err("it is not pcap");
        assert!(error.to_string().contains("not a pcap file"), "{error}");
        fs::remove_dir_all(&folder).expect("it was made above");
    }

    proptest! {
        #[test]
        fn any_bytes_are_packets_or_an_error(
            kept in 0_usize..80,
            changed in prop::collection::vec((FILE_HEADER..75, any::<u8>()), 0..6),
        ) {
            let mut bytes = file(&[(1, 1), (2, 2), (3, 3)], u32::to_le_bytes);
            for (at, byte) in changed {
                bytes[at] = byte;
            }
            bytes.truncate(kept);
            let Ok(mut records) = Records::read(&bytes[..]) else { return Ok(()) };
            // Each packet takes a record's header at least.
            for _ in 0..=bytes.len() / RECORD_HEADER {
                let Ok(Some(record)) = records.next() else { return Ok(()) };
                prop_assert!(record.bytes.len() < bytes.len());
            }
            prop_assert!(false, "more packets than bytes");
        }
    }
}
