//! Tables of jobs and their operations (docs/algorithms/traffic.md#operations).

use p4cc_units::Time;

use crate::output::view::View;
use crate::record::Table;
use crate::record::schema::{JobRow, OperationRow};
use crate::traffic::jobs::run::OperationTimes;
use crate::traffic::jobs::{JobPlan, Task};

impl View<'_> {
    /// One table of jobs, one of operations.
    pub(crate) fn jobs_tables(&self) -> [Table; 2] {
        [self.jobs_table(), self.operations_table()]
    }

    fn jobs_table(&self) -> Table {
        let run = &self.hosts.applications().jobs;
        Table::of(self.topology.jobs.jobs.iter().map(|job| {
            let times = &run.operations[job.operations.start as usize..job.operations.end as usize];
            let start = times.iter().filter_map(|one| one.start).min();
            let ends = || times.iter().map(|one| one.end);
            let finish = ends().collect::<Option<Vec<Time>>>().and_then(|ends| ends.into_iter().max());
            JobRow {
                job: &job.name,
                operations: times.len() as u64,
                ended: ends().flatten().count() as u64,
                start_ns: start.map(Time::as_ns),
                finish_ns: finish.map(Time::as_ns),
                completion_ns: finish.zip(start).map(|(finish, start)| finish.as_ns() - start.as_ns()),
            }
        }))
    }

    fn operations_table(&self) -> Table {
        let run = &self.hosts.applications().jobs;
        let jobs = &self.topology.jobs.jobs;
        // The name of those that have none; a text without letters takes no memory of its own.
        let number = |job: &JobPlan, operation: u32| {
            let has_name = self.topology.jobs.operations[operation as usize].name.is_some();
            if has_name { String::new() } else { (operation - job.operations.start).to_string() }
        };
        let numbers: Vec<String> = jobs
            .iter()
            .flat_map(|job| job.operations.clone().map(move |operation| number(job, operation)))
            .collect();
        let all = jobs.iter().flat_map(|job| job.operations.clone().map(move |operation| (job, operation)));
        Table::of(all.filter_map(|(job, operation)| {
            let times = run.operations[operation as usize];
            self.operation_row(job, operation, times, &numbers)
        }))
    }

    fn operation_row<'a>(
        &'a self,
        job: &'a JobPlan,
        operation: u32,
        times: OperationTimes,
        numbers: &'a [String],
    ) -> Option<OperationRow<'a>> {
        let plan = &self.topology.jobs.operations[operation as usize];
        let host = |host: u32| self.host_name(host);
        let (kind, peer, flow_id, collective) = match plan.task {
            Task::Send { flow } => {
                let flow = &self.hosts.plans()[flow as usize];
                ("send", host(flow.dst), Some(flow.id.into()), "")
            }
            Task::Compute { .. } => ("compute", "", None, ""),
            Task::Collective { collective, .. } => {
                let plan = &self.topology.collectives[collective as usize];
                ("collective", "", None, plan.spec.name.as_str())
            }
        };
        Some(OperationRow {
            job: &job.name,
            operation: plan.name.as_deref().unwrap_or(&numbers[operation as usize]),
            kind,
            host: host(plan.host),
            peer,
            flow_id,
            collective,
            start_ns: times.start?.as_ns(),
            arrival_ns: times.arrival.map(Time::as_ns),
            end_ns: times.end.map(Time::as_ns),
        })
    }
}
