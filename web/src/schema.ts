// Made from crates/schema/vocabulary.toml by `make vocabulary`: do not edit.

/** What a span is of. */
export type SpanKind =
  | "phase"
  | "initcall"
  | "probe"
  | "async"
  | "async_wait"
  | "function"
  | "event"
  | "uevent"
  | "uevent_queued"
  | "uevent_blocked"
  | "uevent_service"
  | "unit"
  | "unit_active"
  | "stage"
  | "process"
  | "system_call"
  | "firmware"
  | "mount"
  | "console";

/** What a node of the calling-context tree is. */
export type CallKind =
  | "root"
  | "function"
  | "interrupt"
  | "exception"
  | "syscall"
  | "task"
  | "firmware"
  | "loader"
  | "decompressor"
  | "unknown"
  | "user"
  | "idle"
  | "group";
