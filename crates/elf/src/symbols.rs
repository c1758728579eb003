//! Functions by symbol tables.

use crate::{containing, Function};
use firstlight_schema::FunctionSource;
use object::{ObjectSymbol, SymbolFlags, SymbolKind};

/// The functions of a symbol table, in order of addresses, one at each. Of several names a global one counts, then the shortest.
pub(crate) fn functions<'d>(
    symbols: impl Iterator<Item = impl ObjectSymbol<'d>>,
    source: FunctionSource,
) -> Vec<Function> {
    let mut found: Vec<(u8, Function)> = symbols
        .filter(|symbol| symbol.is_definition() || is_indirect(symbol))
        .filter(|symbol| symbol.kind() == SymbolKind::Text || is_indirect(symbol))
        .filter_map(|symbol| {
            let name = symbol.name_bytes().ok().filter(|name| !name.is_empty() && symbol.address() != 0)?;
            let binding = match (symbol.is_local(), symbol.is_weak()) {
                (true, _) => 2,
                (false, true) => 1,
                (false, false) => 0,
            };
            let start = symbol.address();
            let name = Some(String::from_utf8_lossy(name).into_owned());
            Some((binding, Function { start, end: start.saturating_add(symbol.size()), name, source }))
        })
        .collect();
    // A name without a size is only better than none.
    let sized = |function: &Function| function.end > function.start;
    found.sort_by(|(a_binding, a), (b_binding, b)| {
        let key = |binding: &u8, function: &Function| {
            let length = function.name.as_ref().map_or(0, String::len);
            (function.start, !sized(function), *binding, length)
        };
        key(a_binding, a).cmp(&key(b_binding, b)).then_with(|| a.name.cmp(&b.name))
    });
    let mut functions: Vec<Function> = found.into_iter().map(|(_, function)| function).collect();
    functions.dedup_by_key(|function| function.start);
    functions
}

// `STT_GNU_IFUNC`: its address is that of the function that chooses, which is a function itself.
fn is_indirect<'d>(symbol: &impl ObjectSymbol<'d>) -> bool {
    matches!(symbol.flags(), SymbolFlags::Elf { st_info, .. } if st_info & 0xf == object::elf::STT_GNU_IFUNC)
        && symbol.section_index().is_some()
}

/// Gives functions without a size an end: that of their call frame, or else the next function.
pub(crate) fn with_ends(mut functions: Vec<Function>, frames: &[Function]) -> Vec<Function> {
    for index in 0..functions.len() {
        let next = functions.get(index + 1).map(|next| next.start);
        let Some(function) = functions.get_mut(index) else { continue };
        if function.end > function.start {
            continue;
        }
        let framed = containing(frames, function.start).map(|frame| frame.end);
        let behind = frames.get(frames.partition_point(|frame| frame.start <= function.start)).map(|frame| frame.start);
        function.end = framed.or([next, behind].into_iter().flatten().min()).unwrap_or(function.start);
    }
    functions
}
