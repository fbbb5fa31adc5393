//! `d3.p4` under random arrival, departure and loss: grants never sum above the
//! capacity, and they are those of the published rule with a true division.
//!
//! The model knows what the switch cannot: each flow, what it was granted last and whether it heard of it.

use proptest::prelude::*;

use super::bench::Bench;
use super::d3::{BASE, CAPACITY, EPOCH_NS, EPOCH_SHIFT, Grant, Request, again, ask, bench, counters};

/// What happens to a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Fate {
    Answered,
    LostBefore,
    LostAfter,
}

/// One step of a run.
#[derive(Clone, Debug)]
enum Step {
    /// A flow asks, by number modulo those there are.
    Ask {
        flow: usize,
        desired: u32,
        fate: Fate,
    },
    Start {
        desired: u32,
        fate: Fate,
    },
    Finish {
        flow: usize,
        lost: bool,
    },
    /// Time goes on, in sixteenths of an epoch.
    Wait {
        sixteenths: u64,
    },
}

/// A flow as its host keeps it.
#[derive(Clone, Copy, Debug, Default)]
struct Flow {
    /// What the next request says of the past; the default after a loss.
    past: Request,
    heard: Grant,
    /// Rate at which it may send.
    rate: u32,
    /// When it heard the grant, in epochs.
    at: u64,
}

fn fate() -> impl Strategy<Value = Fate> {
    prop_oneof![6 => Just(Fate::Answered), 1 => Just(Fate::LostBefore), 2 => Just(Fate::LostAfter)]
}

fn desired() -> impl Strategy<Value = u32> {
    prop_oneof![2 => Just(0), 5 => 0..CAPACITY / 4, 1 => 0..2 * CAPACITY]
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        12 => (any::<usize>(), desired(), fate()).prop_map(|(flow, desired, fate)| Step::Ask { flow, desired, fate }),
        3 => (desired(), fate()).prop_map(|(desired, fate)| Step::Start { desired, fate }),
        2 => (any::<usize>(), any::<bool>()).prop_map(|(flow, lost)| Step::Finish { flow, lost }),
        3 => (1..24_u64).prop_map(|sixteenths| Step::Wait { sixteenths }),
    ]
}

/// The published rule (docs/algorithms/d3-rcp.md#d3-switch) on exact counters, with a division.
#[derive(Default)]
struct Reference {
    allocated: u64,
    demand: u64,
    flows: u64,
}

impl Reference {
    fn of(bench: &Bench) -> Self {
        let (allocated, demand, flows) = counters(bench);
        Self { allocated, demand, flows }
    }

    /// What a flow that desires `want` and is in the counters no more should get: least and most.
    fn grant(&self, want: u32) -> (u64, u64) {
        let want = u64::from(want.min(CAPACITY));
        let capacity = u64::from(CAPACITY);
        let left = capacity.saturating_sub(self.allocated);
        let share = capacity.saturating_sub(self.demand + want) / (self.flows + 1);
        let bound = |share| if left > want { left.min(want + share) } else { left };
        // The reciprocal is rounded down, and so is the product.
        (bound(share.saturating_sub(2)), bound(share))
    }
}

/// A run: the switch, its flows, and whether hosts keep the rule after a loss.
struct Run {
    bench: Bench,
    flows: Vec<Flow>,
    now: u64,
    careful: bool,
}

impl Run {
    fn epoch(&self) -> u64 {
        self.now / EPOCH_NS
    }

    fn request(&mut self, at: usize, desired: u32, fate: Fate) -> Result<(), TestCaseError> {
        let mut flow = self.flows[at];
        let mut request = Request { desired, ..flow.past };
        if fate != Fate::LostBefore {
            let before = Reference::of(&self.bench);
            let grant = ask(&mut self.bench, self.now, request);
            // Compared where nothing comes back and no epoch begins: then the counters before are the rule's.
            if request.epoch_before == 0 && before.flows > 0 && self.same_epoch(grant.epoch, at) {
                let (least, most) = before.grant(desired);
                let given = u64::from(grant.granted);
                let is_base = grant.base_rate && least < u64::from(BASE);
                prop_assert!(
                    is_base || (least..=most).contains(&given),
                    "{given} is not in {least}..={most}"
                );
            }
            if fate == Fate::Answered {
                request.fin = false;
                flow.past = again(0, request, grant);
                flow.heard = grant;
                flow.rate = grant.granted;
                flow.at = self.epoch();
            }
        }
        if fate != Fate::Answered {
            // The return does not come: base rate, and nothing comes back.
            flow = if self.careful { Flow::default() } else { Flow { rate: 0, ..flow } };
        }
        self.flows[at] = flow;
        Ok(())
    }

    /// Whether another flow was answered in the epoch of
    /// this grant before it, so that no epoch began with it.
    fn same_epoch(&self, epoch: u16, but: usize) -> bool {
        let others = self.flows.iter().enumerate().filter(|(at, _)| *at != but);
        others.into_iter().any(|(_, flow)| flow.heard.epoch == epoch && flow.at == self.epoch())
    }

    fn step(&mut self, step: &Step) -> Result<(), TestCaseError> {
        match *step {
            Step::Start { desired, fate } if self.flows.len() < 40 => {
                self.flows.push(Flow::default());
                self.request(self.flows.len() - 1, desired, fate)
            }
            Step::Ask { flow, desired, fate } if !self.flows.is_empty() => {
                self.request(flow % self.flows.len(), desired, fate)
            }
            Step::Finish { flow, lost } if !self.flows.is_empty() => {
                let gone = self.flows.remove(flow % self.flows.len());
                if !lost {
                    ask(&mut self.bench, self.now, Request { desired: 0, fin: true, ..gone.past });
                }
                Ok(())
            }
            Step::Wait { sixteenths } => {
                self.now += sixteenths * EPOCH_NS / 16;
                let epoch = self.epoch();
                // A grant that was not renewed in the epoch after its own is given up.
                for flow in &mut self.flows {
                    if flow.at + 1 < epoch {
                        *flow = Flow::default();
                    }
                }
                Ok(())
            }
            _ => Ok(()),
        }
    }

    /// Rates at which the hosts may send now, without the base rate.
    fn sum(&self) -> u64 {
        self.flows.iter().map(|flow| u64::from(flow.rate)).sum()
    }
}

fn run(steps: &[Step], fresh: &Bench, careful: bool) -> Result<bool, TestCaseError> {
    let mut run = Run { bench: fresh.clone(), flows: Vec::new(), now: 0, careful };
    let mut held = true;
    for step in steps {
        run.step(step)?;
        let (allocated, ..) = counters(&run.bench);
        held &= run.sum() <= u64::from(CAPACITY);
        if careful {
            prop_assert!(allocated <= u64::from(CAPACITY), "{allocated} allocated after {step:?}");
            prop_assert!(held, "{} granted after {step:?}", run.sum());
        }
    }
    Ok(held)
}

#[test]
fn grants_never_sum_above_the_capacity() {
    let fresh = bench(CAPACITY, BASE, EPOCH_SHIFT);
    let config = ProptestConfig { cases: 300, failure_persistence: None, ..ProptestConfig::default() };
    proptest!(config, |(steps in prop::collection::vec(step(), 1..120))| {
        run(&steps, &fresh, true)?;
    });
}

/// The property has teeth: hosts that give a rate back twice break it.
#[test]
fn a_host_that_gives_back_what_it_may_have_given_back_breaks_the_bound() {
    let fresh = bench(CAPACITY, BASE, EPOCH_SHIFT);
    let steps = [
        Step::Start { desired: 0, fate: Fate::Answered },
        Step::Start { desired: CAPACITY, fate: Fate::Answered },
        // The first gives everything back and does not hear; the second takes it.
        Step::Ask { flow: 0, desired: 0, fate: Fate::LostAfter },
        Step::Ask { flow: 1, desired: CAPACITY, fate: Fate::Answered },
        // It gives it back once more, and takes half of what is the second's.
        Step::Ask { flow: 0, desired: CAPACITY / 2, fate: Fate::Answered },
    ];
    assert!(run(&steps, &fresh, true).is_ok());
    assert!(matches!(run(&steps, &fresh, false), Ok(false)), "a careless host was not caught");
}

#[test]
fn long_flows_share_the_capacity_like_rcp_dc() {
    // Every desire is 0: after a few rounds each flow has its
    // share of the capacity (docs/algorithms/d3-rcp.md#rcp).
    for flows in [2_usize, 7, 20] {
        let mut bench = bench(CAPACITY, BASE, EPOCH_SHIFT);
        let mut state = vec![(Request::default(), Grant::default()); flows];
        for round in 0..10 {
            for (at, (request, grant)) in state.iter_mut().enumerate() {
                let next = if round == 0 { Request::default() } else { again(0, *request, *grant) };
                *grant = ask(&mut bench, round * EPOCH_NS / 8 + at as u64, next);
                *request = next;
            }
        }
        let share = CAPACITY / flows as u32;
        for (_, grant) in &state {
            assert!((share - 2..=share).contains(&grant.granted), "{flows} flows: {grant:?}");
        }
    }
}
