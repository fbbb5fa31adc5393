//! Packets as pcap files, one for each direction of a port, named as BMv2 names them.

use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

use p4cc_switch::Packet;

/// Longest packet that is written, as in tcpdump.
const SNAPLEN: u32 = 262_144;
/// Ethernet (LINKTYPE_ETHERNET).
const LINK_TYPE: u32 = 1;

/// The two files of a port.
pub(crate) struct Capture {
    received: Pcap,
    sent: Pcap,
}

impl Capture {
    /// Makes `<interface>_in.pcap` and `<interface>_out.pcap` in a folder.
    pub fn create(folder: &Path, interface: &str) -> io::Result<Self> {
        let file = |direction| Pcap::create(folder.join(format!("{interface}_{direction}.pcap")));
        Ok(Self { received: file("in")?, sent: file("out")? })
    }

    pub fn received(&mut self, packet: &Packet) {
        self.received.write(packet);
    }

    pub fn sent(&mut self, packet: &Packet) {
        self.sent.write(packet);
    }

    pub fn flush(&mut self) {
        self.received.flush();
        self.sent.flush();
    }
}

/// A file that packets are written to.
pub(crate) struct Pcap {
    path: PathBuf,
    /// None after a write failed.
    file: Option<BufWriter<File>>,
}

impl Pcap {
    pub fn create(path: PathBuf) -> io::Result<Self> {
        let mut file = BufWriter::new(File::create(&path)?);
        // Magic number of microsecond timestamps, version 2.4, no time zone, no accuracy.
        for word in [0xa1b2_c3d4_u32, 4 << 16 | 2, 0, 0, SNAPLEN, LINK_TYPE] {
            file.write_all(&word.to_le_bytes())?;
        }
        file.flush()?;
        Ok(Self { path, file: Some(file) })
    }

    /// Whether all writes succeeded.
    pub fn is_open(&self) -> bool {
        self.file.is_some()
    }

    pub fn write(&mut self, packet: &Packet) {
        let Some(file) = &mut self.file else { return };
        let wall = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        let len = packet.len();
        let mut record = Vec::with_capacity(16 + len as usize);
        for word in [wall.as_secs() as u32, wall.subsec_micros(), len, len] {
            record.extend_from_slice(&word.to_le_bytes());
        }
        record.extend_from_slice(&packet.head);
        record.resize(16 + len as usize, 0);
        let written = file.write_all(&record);
        self.keep(written);
    }

    pub fn flush(&mut self) {
        if let Some(file) = &mut self.file {
            let written = file.flush();
            self.keep(written);
        }
    }

    /// Gives up on a file that cannot be written: packets go on.
    fn keep(&mut self, written: io::Result<()>) {
        if let Err(error) = written {
            tracing::error!(file = %self.path.display(), %error, "capture ended");
            self.file = None;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_hold_packets_whole() {
        let folder = std::env::temp_dir().join(format!("p4cc-capture-{}", std::process::id()));
        std::fs::create_dir_all(&folder).expect("a folder");
        let mut capture = Capture::create(&folder, "s1-eth1").expect("two files");
        capture.received(&Packet::new(&[1, 2, 3], 2));
        capture.flush();
        let bytes = std::fs::read(folder.join("s1-eth1_in.pcap")).expect("the first file");
        assert_eq!(bytes.len(), 24 + 16 + 5);
        assert_eq!(bytes[..8], [0xd4, 0xc3, 0xb2, 0xa1, 2, 0, 4, 0]);
        assert_eq!(bytes[32..40], [5, 0, 0, 0, 5, 0, 0, 0]);
        assert_eq!(bytes[40..], [1, 2, 3, 0, 0]);
        let other = std::fs::read(folder.join("s1-eth1_out.pcap")).expect("the second file");
        assert_eq!(other.len(), 24);
        std::fs::remove_dir_all(&folder).expect("the folder was made above");
    }
}
