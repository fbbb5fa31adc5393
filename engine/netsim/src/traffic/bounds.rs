//! What the links of hosts can carry: a bound on a matrix of pairs, and on the flows drawn from it
//! (docs/algorithms/traffic.md#choice-busiest-load).

use std::collections::BTreeMap;

use p4cc_units::Rate;

use super::matrix::{Pair, normalise};

/// Most payload that a host may send, and may be sent, in the time of a model.
#[derive(Clone, Debug)]
pub(crate) struct LinkBounds {
    /// Bytes, by host.
    most_bytes: BTreeMap<u32, f64>,
}

/// Payload of the flows kept so far: sent and received, by host.
#[derive(Debug)]
pub(crate) struct Booked<'a> {
    bounds: &'a LinkBounds,
    sent: BTreeMap<u32, f64>,
    received: BTreeMap<u32, f64>,
}

/// One direction of a host's link.
type Link = (bool, u32);

impl LinkBounds {
    /// `share` of what each host's link carries in `span_ns`.
    pub fn new(rates: impl Iterator<Item = (u32, Rate)>, share: f64, span_ns: f64) -> Self {
        let bytes = |rate: Rate| share * rate.as_bps() as f64 * span_ns / 8e9;
        Self { most_bytes: rates.map(|(host, rate)| (host, bytes(rate))).collect() }
    }

    fn of(&self, host: u32) -> f64 {
        self.most_bytes.get(&host).copied().unwrap_or(0.0)
    }

    /// Sets intensities so that pairs offer `bytes` in all, and no link more than its bound: weighted max-min
    /// fairness by progressive filling. The offers of all pairs grow in proportion; where a link is full, its
    /// pairs stay as they are. False if links cannot carry as much. `mean_bytes` is by size distribution.
    pub fn limit(&self, pairs: &mut [Pair], mean_bytes: &[f64], bytes: f64) -> bool {
        let links_of = |pair: &Pair| -> [Link; 2] { [(true, pair.src), (false, pair.dst)] };
        let mut growing: Vec<usize> = (0..pairs.len()).collect();
        let mut offers = vec![0.0; pairs.len()];
        let weight = |pair: &Pair| pair.intensity * mean_bytes[pair.size];
        let mut room: BTreeMap<Link, f64> = BTreeMap::new();
        for pair in pairs.iter() {
            links_of(pair).into_iter().for_each(|link| {
                room.insert(link, self.of(link.1));
            });
        }
        let mut rest = bytes;
        while rest > 0.0 && !growing.is_empty() {
            let mut weights: BTreeMap<Link, f64> = BTreeMap::new();
            for &place in &growing {
                for link in links_of(&pairs[place]) {
                    *weights.entry(link).or_default() += weight(&pairs[place]);
                }
            }
            let all: f64 = growing.iter().map(|&place| weight(&pairs[place])).sum();
            let full = weights.iter().map(|(link, weight)| (room[link] / weight, *link));
            let Some((step, link)) = full.min_by(|a, b| a.0.total_cmp(&b.0)) else { return false };
            let is_last = rest / all <= step;
            let step = step.min(rest / all);
            for &place in &growing {
                let more = step * weight(&pairs[place]);
                offers[place] += more;
                for link in links_of(&pairs[place]) {
                    room.entry(link).and_modify(|room| *room -= more);
                }
            }
            if is_last {
                rest = 0.0;
                break;
            }
            rest -= step * all;
            growing.retain(|&place| !links_of(&pairs[place]).contains(&link));
        }
        for (pair, offer) in pairs.iter_mut().zip(&offers) {
            pair.intensity = offer / mean_bytes[pair.size];
        }
        normalise(pairs);
        rest <= 0.0
    }

    /// A book of no flows.
    pub fn book(&self) -> Booked<'_> {
        Booked { bounds: self, sent: BTreeMap::new(), received: BTreeMap::new() }
    }
}

impl Booked<'_> {
    /// Whether both links have room for a flow; it is booked if they have.
    pub fn admits(&mut self, src: u32, dst: u32, bytes: u64) -> bool {
        let bytes = bytes as f64;
        let sent = self.sent.entry(src).or_default();
        let received = self.received.entry(dst).or_default();
        let has_room = *sent + bytes <= self.bounds.of(src) && *received + bytes <= self.bounds.of(dst);
        if has_room {
            *sent += bytes;
            *received += bytes;
        }
        has_room
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn pair(src: u32, dst: u32, intensity: f64) -> Pair {
        Pair { src, dst, intensity, size: 0, gap: 0 }
    }

    /// 1000 B for each host: 8 Gbit/s for 1 us.
    fn bounds(hosts: u32) -> LinkBounds {
        LinkBounds::new((0..hosts).map(|host| (host, Rate::from_bps(8_000_000_000))), 1.0, 1_000.0)
    }

    #[test]
    fn what_one_link_cannot_carry_goes_to_the_other_pairs_in_proportion() {
        let mut pairs = [pair(0, 1, 8.0), pair(2, 3, 1.0), pair(4, 5, 1.0)];
        assert!(bounds(6).limit(&mut pairs, &[10.0], 2_000.0));
        // 1000 B of the first, whose share would be 1600 B; 500 B of each other.
        let shares = pairs.map(|pair| pair.intensity / 3.0);
        assert!(shares.iter().zip([0.5, 0.25, 0.25]).all(|(a, b)| (a - b).abs() < 1e-12), "{shares:?}");
    }

    #[test]
    fn a_receiver_bounds_all_its_senders_and_too_much_is_refused() {
        let mut pairs = [pair(0, 2, 1.0), pair(1, 2, 1.0)];
        assert!(!bounds(3).limit(&mut pairs, &[10.0], 1_001.0));
        assert!(bounds(3).limit(&mut pairs, &[10.0], 1_000.0));
    }

    #[test]
    fn a_flow_that_does_not_fit_is_not_booked() {
        let bounds = bounds(3);
        let mut book = bounds.book();
        assert!(book.admits(0, 1, 600));
        assert!(!book.admits(0, 2, 401), "the sender has 400 B of room");
        assert!(!book.admits(2, 1, 401), "the receiver has 400 B of room");
        assert!(book.admits(0, 2, 400) && book.admits(2, 1, 400));
    }

    proptest! {
        /// No link is offered more than it carries, and nothing is lost: the offers add up.
        #[test]
        fn offers_add_up_within_the_bounds(
            ends in proptest::collection::vec((0_u32..8, 0_u32..7, 0.01_f64..100.0), 1..30),
            bytes in 1.0_f64..2_500.0,
        ) {
            let mut pairs: Vec<Pair> = ends
                .iter()
                .map(|&(src, other, intensity)| pair(src, if other >= src { other + 1 } else { other }, intensity))
                .collect();
            let bounds = bounds(8);
            prop_assume!(bounds.limit(&mut pairs, &[1.0], bytes));
            let scale = bytes / pairs.len() as f64;
            for host in 0..8 {
                for is_end in [|pair: &Pair, host| pair.src == host, |pair: &Pair, host| pair.dst == host] {
                    let of: f64 = pairs.iter().filter(|one| is_end(one, host)).map(|one| one.intensity).sum();
                    prop_assert!(of * scale <= 1_000.0 * (1.0 + 1e-9));
                }
            }
            let sum: f64 = pairs.iter().map(|pair| pair.intensity).sum();
            prop_assert!((sum / pairs.len() as f64 - 1.0).abs() < 1e-9);
        }
    }
}
