//! What an agent tells: JSON lines, and gauges for Prometheus.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs::File;
use std::io::{self, BufWriter, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use p4cc_units::Time;
use serde::Serialize;
use serde_json::json;

use crate::ends::{Receiving, Sending};

/// Longest request that is read.
const MAX_REQUEST_BYTES: usize = 4_096;
const REQUEST_TIMEOUT: Duration = Duration::from_secs(1);

/// What an agent counts over all flows.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug, Serialize)]
pub struct Counters {
    /// Packets that left.
    pub sent_pkts: u64,
    /// Packets that an end of a flow took.
    pub received_pkts: u64,
    /// Datagrams that are no p4cc packet.
    pub refused_malformed: u64,
    /// Packets of a flow that does not end or start here.
    pub refused_flow: u64,
    /// Times that the interface had no room.
    pub interface_full: u64,
    /// Packets that the system refused to send.
    pub send_errors: u64,
}

/// Where metrics go.
pub struct Metrics {
    lines: Option<Box<dyn Write + Send>>,
    page: Option<Arc<Mutex<String>>>,
}

impl Metrics {
    /// Lines to a file, `-` for the standard output, or nowhere;
    /// a page for Prometheus at an address, if there is one.
    ///
    /// # Errors
    /// A file that cannot be made, or an address that cannot be had.
    pub fn open(lines: Option<&Path>, prometheus: Option<SocketAddr>) -> io::Result<Self> {
        let lines: Option<Box<dyn Write + Send>> = match lines {
            Some(path) if path == Path::new("-") => Some(Box::new(io::stdout())),
            Some(path) => Some(Box::new(BufWriter::new(File::create(path)?))),
            None => None,
        };
        let page = prometheus.map(serve).transpose()?;
        Ok(Self { lines, page })
    }

    fn line(&mut self, value: &serde_json::Value) -> io::Result<()> {
        match &mut self.lines {
            Some(out) => writeln!(out, "{value}"),
            None => Ok(()),
        }
    }

    /// A sending flow is complete, or the agent ends.
    ///
    /// # Errors
    /// The file.
    pub fn flow(&mut self, now: Time, flow: &Sending) -> io::Result<()> {
        let state = flow.snapshot();
        self.line(&json!({
            "type": "flow",
            "time_ns": now.as_ns(),
            "flow": flow.id,
            "size_bytes": flow.size_bytes,
            "acked_bytes": state.snd_una,
            "start_ns": flow.started.then(|| flow.start.as_ns()),
            "fct_ns": flow.finish.map(|finish| finish.since(flow.start).as_ns()),
            "deadline_met": flow.deadline_met(),
            "data_pkts": flow.data_pkts,
            "timeouts": state.timeouts,
            "fast_retransmits": state.fast_retransmits,
            "retransmitted_segments": state.retransmitted_segments,
        }))
    }

    /// A receiving flow is complete, or the agent ends.
    ///
    /// # Errors
    /// The file.
    pub fn received(&mut self, now: Time, flow: &Receiving) -> io::Result<()> {
        self.line(&json!({
            "type": "received",
            "time_ns": now.as_ns(),
            "flow": flow.id,
            "bytes": flow.bytes,
            "first_ns": flow.first.map(Time::as_ns),
            "finish_ns": flow.finish.map(Time::as_ns),
            "data_pkts": flow.data_pkts,
            "marks_k_pkts": flow.marks[0],
            "marks_kdc_pkts": flow.marks[1],
        }))
    }

    /// State of a sender.
    ///
    /// # Errors
    /// The file.
    pub fn sample(&mut self, now: Time, flow: &Sending) -> io::Result<()> {
        if self.lines.is_none() {
            return Ok(());
        }
        let state = flow.snapshot();
        self.line(&json!({
            "type": "sample",
            "time_ns": now.as_ns(),
            "flow": flow.id,
            "cwnd_segments": state.cwnd_segments,
            "ssthresh_segments": state.ssthresh_segments,
            "alpha": state.alpha,
            "srtt_ns": state.srtt.map(p4cc_units::Span::as_ns),
            "rto_ns": state.rto.as_ns(),
            "flight_segments": state.flight_segments,
            "acked_bytes": state.snd_una,
            "timeouts": state.timeouts,
            "rate_bps": state.rate_bps,
        }))
    }

    /// The agent ends.
    ///
    /// # Errors
    /// The file.
    pub fn summary(&mut self, now: Time, counters: &Counters) -> io::Result<()> {
        self.line(&json!({"type": "summary", "time_ns": now.as_ns(), "counters": counters}))?;
        self.lines.as_mut().map_or(Ok(()), Write::flush)
    }

    /// Writes the page for Prometheus anew.
    pub fn publish(&self, counters: &Counters, sends: &[Sending], receives: &BTreeMap<u32, Receiving>) {
        if let Some(page) = &self.page {
            *page.lock().unwrap_or_else(PoisonError::into_inner) = exposition(counters, sends, receives);
        }
    }
}

/// Prometheus' text format, version 0.0.4.
fn exposition(counters: &Counters, sends: &[Sending], receives: &BTreeMap<u32, Receiving>) -> String {
    let mut page = String::new();
    for (name, value) in [
        ("sent_pkts", counters.sent_pkts),
        ("received_pkts", counters.received_pkts),
        ("refused_malformed_pkts", counters.refused_malformed),
        ("refused_flow_pkts", counters.refused_flow),
        ("interface_full", counters.interface_full),
        ("send_errors", counters.send_errors),
    ] {
        let _ = writeln!(page, "# TYPE p4cc_agent_{name}_total counter\np4cc_agent_{name}_total {value}");
    }
    let states: Vec<_> = sends.iter().map(|flow| (flow.id, flow.snapshot())).collect();
    let mut gauge = |name: &str, values: &mut dyn Iterator<Item = (u32, f64)>| {
        let _ = writeln!(page, "# TYPE p4cc_agent_flow_{name} gauge");
        for (id, value) in values {
            let _ = writeln!(page, "p4cc_agent_flow_{name}{{flow=\"{id}\"}} {value}");
        }
    };
    gauge("cwnd_segments", &mut states.iter().map(|(id, state)| (*id, state.cwnd_segments)));
    gauge("acked_bytes", &mut states.iter().map(|(id, state)| (*id, state.snd_una as f64)));
    gauge("timeouts", &mut states.iter().map(|(id, state)| (*id, state.timeouts as f64)));
    let srtt = |id: &u32, srtt: p4cc_units::Span| (*id, srtt.as_ns() as f64 / 1e9);
    gauge("srtt_seconds", &mut states.iter().filter_map(|(id, state)| state.srtt.map(|time| srtt(id, time))));
    gauge("delivered_bytes", &mut receives.iter().map(|(id, flow)| (*id, flow.bytes as f64)));
    page
}

/// Answers every request at an address with the page, on a thread of its own.
fn serve(address: SocketAddr) -> io::Result<Arc<Mutex<String>>> {
    let listener = TcpListener::bind(address)?;
    let page = Arc::new(Mutex::new(String::new()));
    let shown = Arc::clone(&page);
    std::thread::Builder::new().name("prometheus".to_owned()).spawn(move || {
        for stream in listener.incoming().flatten() {
            // A client that goes away is its own affair.
            let _ = answer(stream, &shown);
        }
    })?;
    Ok(page)
}

fn answer(mut stream: TcpStream, page: &Mutex<String>) -> io::Result<()> {
    stream.set_read_timeout(Some(REQUEST_TIMEOUT))?;
    stream.set_write_timeout(Some(REQUEST_TIMEOUT))?;
    let mut request = Vec::new();
    let mut part = [0; 512];
    while !request.ends_with(b"\r\n\r\n") && request.len() < MAX_REQUEST_BYTES {
        let count = stream.read(&mut part)?;
        if count == 0 {
            break;
        }
        request.extend_from_slice(&part[..count]);
    }
    let body = page.lock().unwrap_or_else(PoisonError::into_inner).clone();
    let head = "HTTP/1.1 200 OK\r\nContent-Type: text/plain; version=0.0.4\r\nConnection: close";
    write!(stream, "{head}\r\nContent-Length: {}\r\n\r\n{body}", body.len())
}
