//! Counters, meters, registers, value sets, lists of fields, error codes.

use std::collections::BTreeMap;

use p4cc_ir::{CountUnit, CounterId, MeterId, Table, VarType};
use serde_json::{Value, json};

use super::{Res, Writer, refuse};

/// Rates of a meter: RFC 2698's two.
const RATES: u32 = 2;

/// The tables that direct resources belong to.
#[derive(Default)]
pub(super) struct Direct<'p> {
    counters: BTreeMap<CounterId, &'p str>,
    meters: BTreeMap<MeterId, &'p Table>,
}

impl<'p> Writer<'p> {
    pub(super) fn direct_resources(&self) -> Direct<'p> {
        let mut direct = Direct::default();
        for table in &self.program.tables {
            if let Some(counter) = table.counter {
                direct.counters.insert(counter, &table.cp.name);
            }
            if let Some(meter) = table.meter {
                direct.meters.insert(meter, table);
            }
        }
        direct
    }

    pub(super) fn counter_arrays(&self, direct: &Direct<'_>) -> Vec<Value> {
        let counters = self.program.counters.iter().enumerate();
        // One that is direct and of no table counts nothing.
        let written = counters.filter_map(|(id, counter)| {
            let binding = direct.counters.get(&CounterId::from_index(id));
            if counter.size.is_none() && binding.is_none() || self.is_psa() && counter.size.is_some() {
                return None;
            }
            let mut array = json!({ "name": counter.cp.name, "id": id, "is_direct": counter.size.is_none() });
            match counter.size {
                Some(size) => array["size"] = json!(size),
                None => array["binding"] = json!(binding),
            }
            Some(array)
        });
        written.collect()
    }

    /// Where the colour of a direct meter goes when its table hits.
    pub(super) fn meter_color(&mut self, meter: MeterId) -> Value {
        if let Some(color) = self.made.colors.get(&meter) {
            return color.clone();
        }
        let name = format!("{}.color", self.program.meters[meter.index()].cp.name);
        let color = self.names.scalar(&name, VarType::Bit(8));
        self.made.colors.insert(meter, color.clone());
        color
    }

    pub(super) fn meter_arrays(&mut self, direct: &Direct<'_>) -> Vec<Value> {
        let mut arrays = Vec::with_capacity(self.program.meters.len());
        for (id, meter) in self.program.meters.iter().enumerate() {
            if self.is_psa() && meter.size.is_some() {
                continue;
            }
            let unit = if meter.unit == CountUnit::Bytes { "bytes" } else { "packets" };
            let mut array = json!({
                "name": meter.cp.name,
                "id": id,
                "is_direct": meter.size.is_none(),
                "rate_count": RATES,
                "type": unit,
            });
            if let Some(size) = meter.size {
                array["size"] = json!(size);
            } else {
                let id = MeterId::from_index(id);
                let Some(table) = direct.meters.get(&id) else { continue };
                array["binding"] = json!(table.cp.name);
                array["size"] = json!(table.size);
                array["result_target"] = self.meter_color(id);
            }
            arrays.push(array);
        }
        arrays
    }

    pub(super) fn register_arrays(&self) -> Res<Vec<Value>> {
        let mut arrays = Vec::with_capacity(self.program.registers.len());
        for (id, register) in self.program.registers.iter().enumerate() {
            let name = &register.cp.name;
            if register.initial.is_some() {
                return refuse(name, "cells that start with a value", "write them from the control plane");
            }
            let width = register.ty.width();
            arrays.push(json!({ "name": name, "id": id, "size": register.size, "bitwidth": width }));
        }
        Ok(arrays)
    }

    pub(super) fn value_sets(&self) -> Vec<Value> {
        let sets = self.program.value_sets.iter().enumerate();
        let written = sets.map(|(id, set)| {
            let width: u32 = set.keys.iter().map(|(_, ty, _)| ty.width()).sum();
            json!({ "name": set.cp.name, "id": id, "compressed_bitwidth": width, "max_size": set.size })
        });
        written.collect()
    }

    /// Lists of what packets keep, with those that code names and that hold nothing.
    pub(super) fn field_lists(&mut self) -> Vec<Value> {
        let declared = &self.program.field_lists;
        // A list that code names has an id; of the others, one without an id is never asked for.
        self.made.lists.extend(declared.iter().filter_map(|list| list.index.checked_add(1)));
        let mut lists = Vec::with_capacity(self.made.lists.len());
        for id in core::mem::take(&mut self.made.lists) {
            let vars = declared
                .iter()
                .filter(|list| list.index.checked_add(1) == Some(id))
                .flat_map(|list| &list.vars);
            let elements: Vec<Value> = vars.map(|var| self.names.field(*var)).collect();
            lists.push(json!({ "id": id, "name": format!("field_list{id}"), "elements": elements }));
        }
        lists
    }

    pub(super) fn errors(&self) -> Vec<Value> {
        let errors = self.program.errors.iter().enumerate();
        errors.map(|(code, name)| json!([name, code])).collect()
    }
}
