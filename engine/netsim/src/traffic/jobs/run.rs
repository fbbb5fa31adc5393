//! Jobs in one run: which operations start, and what they do then.

use std::collections::VecDeque;

use p4cc_units::{Span, Time};

use super::{Event, JobsPlan, Task};

/// An operation as it went.
#[derive(Clone, Copy, Default, PartialEq, Eq, Debug)]
pub(crate) struct OperationTimes {
    pub start: Option<Time>,
    pub arrival: Option<Time>,
    pub end: Option<Time>,
}

/// What the application does next.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Step {
    /// It gives a flow its data.
    Send(u32),
    /// It wakes for an operation at a time.
    Wait(u32, Time),
    /// An operation's rank begins its part in a collective.
    TakePart { operation: u32, collective: u32, rank: u32 },
}

#[derive(Clone, Default, Debug)]
struct Unit {
    is_busy: bool,
    queue: VecDeque<u32>,
}

/// All jobs in one run.
#[derive(Clone, Debug)]
pub(crate) struct Jobs {
    pub operations: Vec<OperationTimes>,
    /// Events that each operation still waits for.
    missing: Vec<u32>,
    units: Vec<Unit>,
    /// Operations that have not ended.
    pub open: u64,
}

impl Jobs {
    pub fn new(plan: &JobsPlan) -> Self {
        Self {
            operations: vec![OperationTimes::default(); plan.operations.len()],
            missing: plan.operations.iter().map(|one| one.needs).collect(),
            units: vec![Unit::default(); plan.units as usize],
            open: plan.operations.len() as u64,
        }
    }

    /// What operations do that wait for none.
    pub fn first_steps(&mut self, plan: &JobsPlan) -> Vec<Step> {
        let (mut steps, mut events) = (Vec::new(), VecDeque::new());
        let roots: Vec<u32> =
            (0..).zip(&self.missing).filter(|(_, needs)| **needs == 0).map(|(i, _)| i).collect();
        for operation in roots {
            self.on_ready(plan, operation, Time::ZERO, &mut events, &mut steps);
        }
        self.follow(plan, events, Time::ZERO, &mut steps);
        steps
    }

    /// The steps that follow from an event.
    pub fn on_event(&mut self, plan: &JobsPlan, operation: u32, event: Event, now: Time) -> Vec<Step> {
        let mut steps = Vec::new();
        self.follow(plan, VecDeque::from([(operation, event)]), now, &mut steps);
        steps
    }

    /// An operation's time has come: its start if it has not started, or its end.
    pub fn on_time(&mut self, plan: &JobsPlan, operation: u32, now: Time) -> Vec<Step> {
        if self.operations[operation as usize].start.is_some() {
            return self.on_event(plan, operation, Event::End, now);
        }
        let (mut steps, mut events) = (Vec::new(), VecDeque::new());
        self.on_ready(plan, operation, now, &mut events, &mut steps);
        self.follow(plan, events, now, &mut steps);
        steps
    }

    fn follow(
        &mut self,
        plan: &JobsPlan,
        mut events: VecDeque<(u32, Event)>,
        now: Time,
        steps: &mut Vec<Step>,
    ) {
        while let Some((operation, event)) = events.pop_front() {
            let times = &mut self.operations[operation as usize];
            match event {
                Event::Start => times.start = Some(now),
                Event::Arrival => times.arrival = Some(now),
                Event::End => {
                    times.end = Some(now);
                    self.open -= 1;
                    self.release(plan, operation, &mut events, now, steps);
                }
            }
            for &next in plan.waiting(operation, event) {
                let missing = &mut self.missing[next as usize];
                // One that needs only some of its events does not count the others.
                if *missing > 0 {
                    *missing -= 1;
                    if *missing == 0 {
                        self.on_ready(plan, next, now, &mut events, steps);
                    }
                }
            }
        }
    }

    fn on_ready(
        &mut self,
        plan: &JobsPlan,
        operation: u32,
        now: Time,
        events: &mut VecDeque<(u32, Event)>,
        steps: &mut Vec<Step>,
    ) {
        let one = &plan.operations[operation as usize];
        if one.earliest > now {
            steps.push(Step::Wait(operation, one.earliest));
            return;
        }
        if let Some(unit) = one.unit {
            let unit = &mut self.units[unit as usize];
            if unit.is_busy {
                unit.queue.push_back(operation);
                return;
            }
            unit.is_busy = true;
        }
        start(plan, operation, now, events, steps);
    }

    /// The unit of an operation that ended takes the next one.
    fn release(
        &mut self,
        plan: &JobsPlan,
        operation: u32,
        events: &mut VecDeque<(u32, Event)>,
        now: Time,
        steps: &mut Vec<Step>,
    ) {
        let Some(unit) = plan.operations[operation as usize].unit else { return };
        let unit = &mut self.units[unit as usize];
        match unit.queue.pop_front() {
            Some(next) => start(plan, next, now, events, steps),
            None => unit.is_busy = false,
        }
    }
}

fn start(
    plan: &JobsPlan,
    operation: u32,
    now: Time,
    events: &mut VecDeque<(u32, Event)>,
    steps: &mut Vec<Step>,
) {
    events.push_back((operation, Event::Start));
    match plan.operations[operation as usize].task {
        Task::Send { flow } => steps.push(Step::Send(flow)),
        Task::Compute { duration: Span::ZERO } => events.push_back((operation, Event::End)),
        Task::Compute { duration } => steps.push(Step::Wait(operation, now + duration)),
        Task::Collective { collective, rank } => {
            steps.push(Step::TakePart { operation, collective, rank });
        }
    }
}
