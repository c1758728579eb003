//! `firstlight._core`: the engine for Python, and nothing else. What each function does is said where it is implemented.

mod difference;
mod elf;
mod errors;
mod export;
mod frame;
mod functions;
mod import;
mod profile;
mod tables;

/// The engine: what runs per event or per row, in Rust.
#[pyo3::pymodule(gil_used = false)]
mod _core {
    #[pymodule_export]
    use crate::difference::{tree_difference, TreeDifference};
    #[pymodule_export]
    use crate::elf::{elf_has_symbols, elf_headers, elf_labels, elf_needs, elf_section, ElfHeaders, ElfSegment};
    #[pymodule_export]
    use crate::export::{
        export_folded, export_perfetto, span_lanes, weighted_stacks, Lane, Lanes, LeftOut, Stacks, Trace,
    };
    #[pymodule_export]
    use crate::functions::{folded_calls, kd_table, part_kd_table, phase_kd_tables, slice_functions, whole_name};
    #[pymodule_export]
    use crate::import::{add_console, add_units, architecture_family, is_same_model, record_formats, Pattern, Records};
    #[pymodule_export]
    use crate::profile::{build_id, code_files, convert_profile, function_names, pack_profile, Profile};
    #[pymodule_export]
    use crate::tables::{lines_until, table_rows, table_schemas, write_table};
}
