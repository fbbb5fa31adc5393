//! What the server keeps of one device: the tables of its program, and what goes with them.

use std::path::Path;
use std::sync::Arc;

use p4cc_exec::Pipeline;
use p4cc_p4runtime::errors::Failure;
use p4cc_switch::Switch;
use p4cc_units::Time;

use crate::schema::{self, Schema};
use crate::target::{DeviceState, Scope, Target, Window};

/// A program as clients see it.
pub(super) struct Loaded {
    pipeline: Arc<Pipeline>,
    /// What clients bind to.
    pub(super) name: String,
    /// Tables of the program and of the chip.
    pub(super) schema: Schema,
    /// bf-rt.json of the program.
    pub(super) program_json: String,
    /// bf-rt.json of the chip.
    pub(super) chip_json: String,
}

impl Loaded {
    /// Makes them, which takes a moment for a large program.
    pub(super) fn new(pipeline: &Arc<Pipeline>, given_name: Option<&str>) -> Result<Self, Failure> {
        let program = pipeline.program();
        let chip = schema::chip_of(program);
        let mut schema = schema::of_program(program, chip)
            .map_err(|error| Failure::precondition(format!("program {}: {error}", program.name)))?;
        let fixed = schema::fixed(chip);
        let (program_json, chip_json) = (schema::json::text(&schema), schema::json::text(&fixed));
        schema.tables.extend(fixed.tables);
        let name = given_name.map_or_else(|| stem(&program.name), str::to_owned);
        Ok(Self { pipeline: Arc::clone(pipeline), name, schema, program_json, chip_json })
    }
}

/// `tna_counter` of `programs/tna_counter.p4`.
fn stem(name: &str) -> String {
    Path::new(name).file_stem().map_or_else(|| name.to_owned(), |stem| stem.to_string_lossy().into_owned())
}

/// One device.
#[derive(Default)]
pub(super) struct Device {
    loaded: Option<Arc<Loaded>>,
    pub(super) kept: DeviceState,
}

impl Device {
    /// What was made of the program that the switch runs; none where it is another than before.
    pub(super) fn loaded(&self, switch: &Switch) -> Option<Arc<Loaded>> {
        let pipeline = switch.observation().pipeline()?;
        self.loaded.as_ref().filter(|loaded| Arc::ptr_eq(&loaded.pipeline, pipeline)).cloned()
    }

    /// Takes what was made of the program, if the switch still runs it.
    pub(super) fn load(&mut self, switch: &Switch, loaded: &Arc<Loaded>) {
        if switch.observation().pipeline().is_some_and(|pipeline| Arc::ptr_eq(&loaded.pipeline, pipeline)) {
            self.loaded = Some(Arc::clone(loaded));
            self.kept = DeviceState::default();
        }
    }

    /// Lends the device to a request.
    pub(super) fn with_target<T>(
        &mut self,
        loaded: &Loaded,
        (switch, now, scope): (&mut Switch, Time, Scope),
        f: impl FnOnce(&mut Target<'_>) -> T,
    ) -> T {
        let program = Arc::clone(loaded.pipeline.program());
        let kept = &mut self.kept;
        f(&mut Target {
            schema: &loaded.schema,
            program: &program,
            switch,
            kept,
            now,
            scope,
            window: Window::All,
        })
    }

    /// Starts the program anew, as if the device had just been switched on: as it is on a switch that was
    /// staged for it. The other gets what ran before.
    pub(super) fn start_anew(&mut self, switch: &mut Switch, staged: &mut Switch) {
        switch.control().take_over(staged);
        self.kept = DeviceState::default();
    }
}

/// The program of a device as it is when it starts, on a switch of its own.
pub(super) fn stage(loaded: &Loaded, mut staging: Switch) -> Switch {
    staging.control().set_pipeline(Arc::clone(&loaded.pipeline));
    staging
}
