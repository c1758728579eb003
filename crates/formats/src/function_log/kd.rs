//! The table of the tool `kd` (1.1), from the rows of a log: what it counts and how, faults and all.

use crate::evidence::KdRow;
use crate::tracing::symbols::{Symbol, Symbols};
use rustc_hash::FxHashMap;

#[derive(Debug, Clone, Copy)]
struct Function {
    name: Symbol,
    count: i64,
    time_us: i64,
    min_us: i64,
    max_us: i64,
    sub_time_us: i64,
}

/// Grows row by row, in time that does not depend on the rows before.
#[derive(Debug, Default)]
pub(crate) struct Kd {
    // By symbol: the place in `functions`, plus one.
    places: Vec<u32>,
    functions: Vec<Function>,
    // By caller and callee: in which order they were met, and how often.
    edges: FxHashMap<u64, Edge>,
}

#[derive(Debug, Clone, Copy)]
struct Edge {
    order: u32,
    count: u32,
}

impl Kd {
    fn place(&self, symbol: Symbol) -> Option<u32> {
        self.places.get(symbol as usize)?.checked_sub(1)
    }

    /// One row: its function, the name before the `+` of its call site, and its Delta.
    pub(crate) fn row(&mut self, name: Symbol, caller: Symbol, delta_us: i64) {
        let place = match self.place(name) {
            Some(place) => {
                let function = &mut self.functions[place as usize];
                function.count += 1;
                function.time_us = function.time_us.saturating_add(delta_us);
                function.min_us = function.min_us.min(delta_us);
                function.max_us = function.max_us.max(delta_us);
                place
            }
            None => {
                let (min_us, max_us) = (delta_us, delta_us);
                self.functions.push(Function { name, count: 1, time_us: delta_us, min_us, max_us, sub_time_us: 0 });
                if self.places.len() <= name as usize {
                    self.places.resize(name as usize + 1, 0);
                }
                self.places[name as usize] = self.functions.len() as u32;
                self.functions.len() as u32 - 1
            }
        };
        // A caller counts from its own first row on; rows are in the order of entry.
        let Some(caller) = self.place(caller) else { return };
        let order = self.edges.len() as u32;
        let edge = self.edges.entry(u64::from(caller) << 32 | u64::from(place)).or_insert(Edge { order, count: 0 });
        edge.count = edge.count.saturating_add(1);
        if delta_us != -1 {
            let sub_time_us = &mut self.functions[caller as usize].sub_time_us;
            *sub_time_us = sub_time_us.saturating_add(delta_us);
        }
    }

    /// The table by Time, the largest first; of equal ones that which was met last.
    pub(crate) fn table(self, symbols: &Symbols) -> Vec<KdRow> {
        let text = |place: u32| {
            let name = self.functions.get(place as usize).map_or(0, |function| function.name);
            String::from_utf8_lossy(symbols.bytes(name)).into_owned()
        };
        let mut max_sub: Vec<Option<(u32, i64)>> = vec![None; self.functions.len()];
        let mut lists: Vec<String> = vec![String::new(); self.functions.len()];
        let mut edges: Vec<(u64, Edge)> = self.edges.into_iter().collect();
        edges.sort_unstable_by_key(|(_, edge)| edge.order);
        for (ends, edge) in edges {
            let (caller, callee, count) = ((ends >> 32) as u32, ends as u32, i64::from(edge.count));
            let time = |place: u32| self.functions[place as usize].time_us;
            let best = &mut max_sub[caller as usize];
            if best.is_none_or(|(known, _)| time(callee) > time(known)) {
                *best = Some((callee, count));
            }
            let list = &mut lists[caller as usize];
            if !list.is_empty() {
                list.push(' ');
            }
            list.push_str(&text(callee));
        }
        let mut order: Vec<usize> = (0..self.functions.len()).rev().collect();
        order.sort_by_key(|&place| std::cmp::Reverse(self.functions[place].time_us));
        order
            .into_iter()
            .map(|place| {
                let function = &self.functions[place];
                let open = function.time_us == -1;
                let average = if open { -1 } else { function.time_us.div_euclid(function.count.max(1)) };
                let local = if open { -1 } else { function.time_us.saturating_sub(function.sub_time_us) };
                KdRow {
                    function: text(place as u32),
                    count: function.count,
                    time_us: function.time_us,
                    average_us: Some(average),
                    min_us: Some(function.min_us),
                    max_us: Some(function.max_us),
                    sub_time_us: Some(function.sub_time_us),
                    local_us: Some(local),
                    max_sub: max_sub[place].map(|(callee, _)| text(callee)),
                    max_sub_count: Some(max_sub[place].map_or(0, |(_, count)| count)),
                    sub_list: Some(std::mem::take(&mut lists[place])),
                }
            })
            .collect()
    }
}
