//! Which stack a line belongs to.

use super::{Cpu, Graph, Kind, Stack, Task, MOST_CPUS, MOST_TASKS, ROOT, SLACK_NS};
use firstlight_schema::CallRow;

impl Graph {
    /// The stack of what runs on `cpu`; `comm` names it. None when there are too many of either.
    #[inline]
    pub(crate) fn stack(&mut self, cpu: u32, task: Task, comm: &[u8], now_ns: Option<i64>) -> Option<usize> {
        let key = match task {
            Task::Pid(0) => 1 << 40 | u64::from(cpu),
            Task::Pid(pid) => u64::from(pid),
            Task::Unknown => 2 << 40 | u64::from(cpu),
        };
        let current = self.cpus.get(cpu as usize).copied().unwrap_or_default();
        let place = if current.known && current.key == key { current.stack as usize } else { self.switch(cpu, key)? };
        let stack = self.stacks.get_mut(place)?;
        if stack.losses != current.losses || stack.cpu != cpu {
            self.moved(place, cpu);
        }
        if let Some(now_ns) = now_ns {
            let (first, last) = self.stamps.unwrap_or((now_ns, now_ns));
            self.stamps = Some((first.min(now_ns), last.max(now_ns)));
            if now_ns.saturating_add(SLACK_NS) < self.stacks.get(place)?.leaf_end_ns {
                self.cut_leaf(place, now_ns);
            }
            let stack = self.stacks.get_mut(place)?;
            stack.leaf_end_ns = i64::MIN;
            stack.last_ns = now_ns;
        }
        let stack = self.stacks.get_mut(place)?;
        if stack.frames.is_empty() && (!stack.named || stack.comm != comm) {
            self.name(place, comm);
        }
        Some(place)
    }

    fn switch(&mut self, cpu: u32, key: u64) -> Option<usize> {
        if cpu as usize >= self.cpus.len() {
            if cpu as usize >= MOST_CPUS {
                self.crowded.at(self.line);
                return None;
            }
            self.cpus.resize(cpu as usize + 1, Cpu::default());
        }
        let place = match self.by_key.get(&key) {
            Some(place) => *place,
            None if self.stacks.len() >= MOST_TASKS => {
                self.crowded.at(self.line);
                return None;
            }
            None => {
                let place = self.stacks.len() as u32;
                self.stacks.push(Stack {
                    key,
                    base: ROOT,
                    comm: Vec::new(),
                    named: false,
                    frames: Vec::new(),
                    cpu,
                    losses: self.cpus[cpu as usize].losses,
                    interrupted: false,
                    last_ns: i64::MIN,
                    leaf_end_ns: i64::MIN,
                    leaf_node: ROOT,
                    leaf_place: None,
                });
                self.by_key.insert(key, place);
                place
            }
        };
        let slot = &mut self.cpus[cpu as usize];
        (slot.key, slot.stack, slot.known) = (key, place, true);
        Some(place as usize)
    }

    // A task came to another processor, or records of the one it was on were lost meanwhile.
    #[cold]
    fn moved(&mut self, place: usize, cpu: u32) {
        let lost = |cpu: u32| self.cpus.get(cpu as usize).map_or(0, |cpu| cpu.losses);
        let (known, now) = (self.stacks[place].losses, lost(self.stacks[place].cpu));
        let arrived = lost(cpu);
        if known != now {
            self.unwind(place, 0);
        }
        let stack = &mut self.stacks[place];
        (stack.cpu, stack.losses) = (cpu, arrived);
    }

    #[cold]
    fn name(&mut self, place: usize, comm: &[u8]) {
        let key = self.stacks[place].key;
        let name = match (key >> 40, comm.is_empty()) {
            (1, _) => CallRow::Idle.name().into(),
            (2, true) => format!("[cpu {}]", key & 0xffff_ffff).into_bytes(),
            (_, true) => b"[task]".to_vec(),
            _ => [b"[task ", comm, b"]"].concat(),
        };
        let symbol = self.symbols.number(&name);
        let base = self.tree.child(ROOT, symbol, Kind::Task);
        if self.stacks[place].base != base {
            self.tree.enter(base);
        }
        let stack = &mut self.stacks[place];
        (stack.base, stack.named) = (base, true);
        comm.clone_into(&mut stack.comm);
    }
}
