// Made from crates/schema/vocabulary.toml by `make vocabulary`: do not edit.

/** Named instants of a boot. */
export const MARK = [
  "power_on",
  "firmware_start",
  "loader_start",
  "loader_load",
  "loader_end",
  "exit_boot_services_start",
  "exit_boot_services_end",
  "payload_start",
  "capture_start",
  "decompression_start",
  "kernel_entry",
  "kernel_clock_start",
  "kernel_start",
  "rest_init",
  "kernel_init",
  "sched_clock",
  "calibrate_delay",
  "smp_up",
  "clocksource_switch",
  "smp_init",
  "initcall_early",
  "initcall_pure",
  "initcall_core",
  "initcall_postcore",
  "initcall_arch",
  "initcall_subsys",
  "initcall_fs",
  "initcall_rootfs",
  "initcall_device",
  "initcall_late",
  "initcalls",
  "initcalls_end",
  "free_init_memory",
  "write_protect",
  "run_init",
  "user_start",
  "guest_start",
  "initramfs_start",
  "systemd_start",
  "switch_root",
  "userspace_start",
  "soft_reboot_start",
  "default_target",
  "startup_finished",
  "startup_settled",
  "login_prompt",
  "idle",
  "ready",
  "panic",
  "record_start",
  "record_end",
] as const;
export type Mark = (typeof MARK)[number];

/** The layers of software that a boot runs through. */
export const LAYER = ["firmware", "loader", "kernel", "initramfs", "userspace"] as const;
export type Layer = (typeof LAYER)[number];

/** What told a mark of a recorded boot. */
export const MARK_SOURCE = ["reset", "address", "function", "instruction", "console", "guest", "host"] as const;
export type MarkSource = (typeof MARK_SOURCE)[number];

/** Intervals between two dividing marks. */
export const PHASE = [
  "firmware",
  "loader",
  "before_kernel",
  "decompression",
  "kernel_entry",
  "early_init",
  "kernel",
  "rest_init",
  "kernel_init",
  "initcall_early",
  "initcall_pure",
  "initcall_core",
  "initcall_postcore",
  "initcall_arch",
  "initcall_subsys",
  "initcall_fs",
  "initcall_rootfs",
  "initcall_device",
  "initcall_late",
  "initcalls",
  "after_initcalls",
  "free_init_memory",
  "run_init",
  "user_start",
  "initramfs",
  "switch_root",
  "userspace",
  "soft_reboot",
  "after_startup",
  "after_ready",
  "panic",
  "before_first_mark",
  "unknown",
] as const;
export type Phase = (typeof PHASE)[number];

/** What a span is of. */
export const SPAN_KIND = [
  "phase",
  "initcall",
  "probe",
  "async",
  "async_wait",
  "function",
  "event",
  "uevent",
  "uevent_queued",
  "uevent_blocked",
  "uevent_service",
  "unit",
  "unit_active",
  "stage",
  "process",
  "firmware",
  "mount",
  "console",
] as const;
export type SpanKind = (typeof SPAN_KIND)[number];

/** The levels of the kernel's initcalls, in the order in which it runs them. */
export const INITCALL_LEVEL = [
  "early",
  "pure",
  "core",
  "postcore",
  "arch",
  "subsys",
  "fs",
  "rootfs",
  "device",
  "late",
  "console",
  "module",
] as const;
export type InitcallLevel = (typeof INITCALL_LEVEL)[number];

/** The clocks of records, and those of a bundle. */
export const CLOCK_KIND = [
  "untimed",
  "printk",
  "monotonic",
  "boottime",
  "userspace",
  "realtime",
  "trace",
  "host",
  "firmware",
  "kft",
  "virtual",
  "imported",
] as const;
export type ClockKind = (typeof CLOCK_KIND)[number];

/** How far the length of a span can be believed. */
export const GRADE = ["exact", "good", "coarse", "bounded", "doubtful", "unknown"] as const;
export type Grade = (typeof GRADE)[number];

/** How one thing waits for another. */
export const LINK_KIND = ["after", "requires", "wants", "blocked_by", "supplier"] as const;
export type LinkKind = (typeof LINK_KIND)[number];

/** What a line of the log went through. */
export const CHANNEL = ["printk", "journal", "udev", "ftrace", "console"] as const;
export type Channel = (typeof CHANNEL)[number];

/** The kinds of damage and doubt of a record. */
export const PROBLEM_KIND = [
  "lost_head",
  "lost_tail",
  "lost",
  "cut",
  "torn",
  "replay",
  "untimed",
  "clock_jump",
  "clock_step",
  "clock_wrap",
  "quantised",
  "unfinished",
  "never_returned",
  "unpaired",
  "shared_start",
  "shifted_microseconds",
  "censored",
  "clamped",
  "encoding",
  "escapes",
  "overlong",
  "contradiction",
  "implausible",
  "unrecognised",
  "unaligned",
] as const;
export type ProblemKind = (typeof PROBLEM_KIND)[number];

/** Why a boot did not reach its last mark. */
export const FAILURE_REASON = [
  "panic",
  "wall_timeout",
  "virtual_timeout",
  "never_ready",
  "qemu_died",
  "plugin",
] as const;
export type FailureReason = (typeof FAILURE_REASON)[number];

/** What a node of the calling-context tree is. */
export const CALL_KIND = [
  "root",
  "function",
  "interrupt",
  "exception",
  "syscall",
  "task",
  "firmware",
  "decompressor",
  "unknown",
  "user",
  "idle",
  "group",
] as const;
export type CallKind = (typeof CALL_KIND)[number];

/** The stages of a start as systemd names them. */
export const STAGE = ["firmware", "loader", "kernel", "initrd", "userspace", "soft-reboot"] as const;
export type Stage = (typeof STAGE)[number];

/** The formats that `firstlight import` reads, by their name for `--as`. */
export const FORMAT_NAME = [
  "collector-manifest",
  "system-snapshot",
  "kernel-config",
  "pm-graph",
  "pm-graph-result",
  "grab-boot-data",
  "lava",
  "function-graph",
  "trace-events",
  "hist",
  "bootconfig",
  "trace-dat",
  "kft",
  "kd-table",
  "kd-tree",
  "systemd-time",
  "systemd-blame",
  "systemd-critical-chain",
  "systemd-plot-json",
  "systemd-plot-svg",
  "systemd-show",
  "journal-json",
  "journal-export",
  "journal-verbose",
  "journal-short",
  "bootchart",
  "bootchart-header",
  "bootchart-processes",
  "bootchart-accounting",
  "bootchart-svg",
  "bootstage",
  "fpdt",
  "efi-loader-times",
  "cbmem",
  "udev-monitor",
  "udev-log",
  "udev-database",
  "kmsg",
  "dmesg-json",
  "grabserial",
  "host-stamped",
  "serial",
  "printk",
] as const;
export type FormatName = (typeof FORMAT_NAME)[number];

/** Why the length of a span has its grade; `{…}` is a parameter. */
export const REASON_CODE = [
  "clock_not_running",
  "clock_started_meanwhile",
  "clock_jumped_back",
  "clock_jumped_back_start_computed",
  "clock_set_meanwhile",
  "tracer_both_ends",
  "tracer_step",
  "end_among_lost_events",
  "start_missing_in_trace",
  "end_missing_in_trace",
  "start_and_end_missing",
  "present_at_trace_end",
  "present_before_trace",
  "end_before_start",
  "stamps_no_times",
  "never_returned_in_trace",
  "never_returned_in_log",
  "not_ended_in_log",
  "not_ended",
  "end_missing_in_log",
  "start_missing_in_log",
  "start_missing_in_log_shared",
  "both_stamps_needed",
  "same_stamp",
  "stamps_agree",
  "stamps_only_apart",
  "stamps_further_apart",
  "joined_by_order",
  "kernel_event_missing",
  "udev_end_missing",
  "arrival_not_logged",
  "messages_without_time",
  "failed",
  "blocker_time_missing",
  "blocker_end_missing",
  "worker_not_logged",
  "end_only_logged",
  "journal_read_late",
  "no_start_message",
  "no_start_message_because",
  "still_active",
  "only_reached",
  "length_missing",
  "time_missing",
  "own_instants_differ",
  "never_active",
  "not_active",
  "restarted",
  "step_disagrees",
  "columns_disagree",
  "sampled_running",
  "present_in_last_sample",
  "ended_after_last_sample",
  "accounting_steps",
  "sampled",
  "left_out_of_picture",
  "shared_start_overwritten",
  "printed_again_between",
  "host_received",
  "few_microseconds",
  "few_milliseconds",
  "few_ticks",
  "records_agree",
  "tracer_to_log",
  "tracer_to_log_differs",
  "tracer_and_kernel_agree",
  "printing_included",
  "record_disagrees",
  "systemd_figure",
  "recording_ended",
  "shifted_start_says",
  "stamps_held_up",
  "arrival_and_end_not_logged",
  "not_done",
  "clamped_by_analyze",
  "clamped_times",
  "still_active_or_clamped",
  "step_of_milliseconds",
  "step_of_microseconds",
  "up_to_freeing",
  "up_to_last_initcall",
  "only_taken_up",
  "last_line_dropped",
  "last_line_lost",
  "last_line_dropped_until",
  "last_line_lost_until",
] as const;
export type ReasonCode = (typeof REASON_CODE)[number];
