//! Names of code. Made from crates/schema/vocabulary.toml by `make vocabulary`: do not edit.

names! {
    /// What code of user mode stands in.
    CodeKind {
        File = "file": "A file of the guest.",
        Deleted = "deleted": "A file that had been deleted when its code was executed first.",
        Memfd = "memfd": "A file without a place in a file system (`memfd_create`).",
        Anonymous = "anonymous": "Memory without a file: generated code, such as a just-in-time compiler's.",
        Vdso = "vdso": "Code that the kernel gives to every process.",
        Unknown = "unknown": "The page was not found, or is none of these.",
    }
}

names! {
    /// What says where a function of user mode begins and how it is called.
    FunctionSource {
        SymbolTable = "symbol_table": "The file's table of symbols (`.symtab`).",
        DynamicSymbols = "dynamic_symbols": "The file's table of dynamic symbols (`.dynsym`).",
        DebugFile = "debug_file": "The symbol table of a separate file with the same build id.",
        LinkageTable = "linkage_table": "The stubs that calls into other files go through (`.plt`).",
        FrameTable = "frame_table": "The table of call frames (`.eh_frame`): where it begins, but no name.",
        Block = "block": "Nothing: each block of code has a row of its own.",
        None = "none": "The code stands in no file that could be read.",
    }
}
