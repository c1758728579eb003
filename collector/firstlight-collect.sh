#!/bin/sh
# Gathers what a system says about its boot into one tar, which `firstlight import` reads.
#
# It only reads: it mounts nothing, sets nothing, speaks to no network, and writes only its own private directory and the
# tar. POSIX sh; what it calls is in busybox. docs/reference/commands/collector.md says what is gathered and what is left out,
# docs/reference/formats/collection.md how the tar is laid out.
#
# Everything stands in functions that the last line calls: of a script that was cut on its way nothing is run.
# SPDX-License-Identifier: MIT OR Apache-2.0

usage() {
    cat <<'USAGE'
usage: sh firstlight-collect.sh [-o FILE.tar] [-f] [-q] [--wait SECONDS] [--no-redact] [--help]

Gathers what this system says about its boot into one tar, for `firstlight import`. It only reads, and works
without root as far as it can.

  -o FILE.tar      the tar to write (default: firstlight-boot.tar); `-`: standard output
  -f               replace a tar that is there
  -q               say nothing but errors
  --wait SECONDS   wait until systemd says that the start is finished, at most so long
  --no-redact      leave host name, serial numbers, network addresses and names of users as they stand

Of a machine without the script: ssh BOARD 'sh -s -- -o -' <firstlight-collect.sh >board.tar
USAGE
}

say() { [ -n "$quiet" ] || printf '%s\n' "$*" >&2; }
fail() {
    printf 'error: %s\n' "$1" >&2
    [ -z "${2:-}" ] || printf 'hint: %s\n' "$2" >&2
    clean
    exit "${3:-1}"
}

# The last that is done. What shells say of processes that were killed is nobody's concern.
clean() {
    trap '' INT TERM HUP
    [ -n "$work$part" ] || return 0
    {
        # `$!` may have been started so lately that nothing else knows of it. None but our own: a shell that became this one by
        # `exec` left us its children.
        [ "${!:-}" = "$ended" ] || kill_tree "$!"
        [ -z "$timer" ] || kill -9 "$timer"
        [ -z "$job" ] || kill_tree "$job"
        [ -z "$part" ] || rm -f "$part"
        # What was just being written when it was killed may still appear.
        for _ in 1 2 3; do
            if rm -rf "$work"; then break; fi
            sleep 1
        done
    } 2>/dev/null
    [ ! -e "$work" ] || printf 'error: %s: cannot be removed\n' "$work" >&2
    exec 2>/dev/null
}

# A process and all below it. It is stopped first: else it would start another, or go on with its next step, when its child is gone.
kill_tree() {
    kill -STOP "$1" 2>/dev/null
    for stat in /proc/[0-9]*/stat; do
        read -r line 2>/dev/null <"$stat" || continue
        # The name in parentheses may hold anything; after it stand state and parent.
        rest=${line##*) }
        rest=${rest#* }
        [ "${rest%% *}" != "$1" ] || (kill_tree "${line%% *}")
    done
    kill -9 "$1" 2>/dev/null
}

# Time since the boot in milliseconds -> $ms; the kernel gives hundredths of a second.
now() {
    ms=0
    read -r up rest 2>/dev/null </proc/uptime || return 0
    ms=$((${up%.*} * 1000 + 1${up#*.}0 - 1000))
}

# limited SECONDS BYTES FILE COMMAND...: runs it with bounds; what it says is in FILE. $status: empty when it ran out of time.
# We wait for the timer alone, which the job ends: so not even a process that nothing can kill makes us hang.
limited() {
    limit_s=$1 limit_blocks=$((($2 + 511) / 512)) limit_file=$3
    shift 3
    rm -f "$work/status"
    sleep "$limit_s" >/dev/null 2>&1 &
    timer=$!
    (
        trap '' XFSZ 2>/dev/null
        ulimit -f "$limit_blocks"
        "$@" >"$limit_file" 2>"$work/error" </dev/null
        echo $? >"$work/status"
        # Not a signal that could be caught: the timer may still be the shell that is about to become it.
        kill -9 "$timer"
    ) >/dev/null 2>&1 &
    job=$!
    wait "$timer" 2>/dev/null
    timer=
    status=
    if [ -s "$work/status" ]; then
        read -r status <"$work/status"
    else
        kill_tree "$job"
    fi
    ended=$job
    job=
}

# One line of the manifest; fields are separated by tabs.
note() {
    line=$1
    shift
    for field in "$@"; do line="$line	$field"; done
    printf '%s\n' "$line" >>"$manifest"
}

item() { # NAME STATE EXIT BYTES MILLISECONDS SOURCE [NOTE]
    note item "$@"
    items=$((items + 1))
    case $2 in
    missing) missing=$((missing + 1)) ;;
    denied) denied=$((denied + 1)) ;;
    partial | timeout | failed) troubled="$troubled $1" ;;
    esac
}

# gather NAME SOURCE SECONDS BYTES text|bytes COMMAND...: one item of the tar.
gather() {
    name=$1 source=$2 seconds=$3 bytes=$4 kind=$5
    shift 5
    target=$stage/$name
    mkdir -p "${target%/*}"
    now
    begun=$ms
    room
    [ "$bytes" -le "$room" ] || bytes=$room
    limited "$seconds" "$bytes" "$target" "$@"
    now
    took=$((ms - begun))
    size=$(wc -c <"$target" 2>/dev/null | tr -d ' ')
    size=${size:-0}
    why=$(head -n 1 "$work/error" 2>/dev/null | tr -d '\000-\037' | cut -c 1-200)
    if [ -z "$status" ]; then
        state=timeout why="not done after $seconds s"
        [ "$size" -eq 0 ] || state=partial
    elif [ "$size" -ge "$bytes" ]; then
        state=partial why="cut at $bytes bytes"
    elif [ "$status" -eq 0 ]; then
        state=whole why=
        [ "$size" -gt 0 ] || state=empty
    elif [ "$size" -gt 0 ]; then
        state=partial
    else
        case $why in
        *[Pp]'ermission denied'* | *'not permitted'* | *'Access denied'*) state=denied ;;
        # An older program, which does not know what we ask of it.
        *'nrecognized option'* | *'nvalid option'* | *'nknown option'* | *'only supported for'* | *'nknown command'*) state=missing ;;
        *) state=failed ;;
        esac
    fi
    if [ "$size" -eq 0 ]; then
        rm -f "$target"
    elif [ "$kind" = text ] && [ -s "$rules" ]; then
        sed "$extended" -f "$rules" "$target" >"$work/redacted" && mv "$work/redacted" "$target"
        why=$(printf '%s' "$why" | sed "$extended" -f "$rules")
        size=$(wc -c <"$target" | tr -d ' ')
    fi
    item "$name" "$state" "${status:--}" "$size" "$took" "$source" "$why"
}

# Whether a file can be read; when not, the manifest says why. A folder that may not be entered hides what is in it.
readable() { # PATH NAME
    [ ! -r "$1" ] || return 0
    if [ -e "$1" ]; then
        item "$2" denied - 0 0 "$1" "not readable for user $uid"
        return 1
    fi
    above=${1%/*}
    while [ -n "$above" ] && [ ! -d "$above" ]; do above=${above%/*}; done
    if [ -z "$above" ] || [ -x "$above" ]; then
        item "$2" missing - 0 0 "$1" ''
    else
        item "$2" denied - 0 0 "$1" "$above may not be entered by user $uid"
    fi
    return 1
}

file() { # PATH BYTES text|bytes [SECONDS]: kept under its own path
    if readable "$1" "${1#/}"; then gather "${1#/}" "$1" "${4:-10}" "$2" "$3" cat "$1"; fi
}

command_() { # NAME SECONDS BYTES COMMAND...
    into=$1 within=$2 most=$3
    shift 3
    if command -v "$1" >/dev/null 2>&1; then
        gather "$into" "$*" "$within" "$most" text "$@"
    else
        item "$into" missing - 0 0 "$*" "there is no $1"
    fi
}

# How much one item may take -> $room: a third of what is free, because the tar is made beside what is gathered.
room() {
    room=$(df -Pk "$work" 2>/dev/null | sed -n '$s/.* \([0-9][0-9]*\)  *[0-9-]*%.*/\1/p')
    room=$((${room:-3145728} * 1024 / 3))
}

# --- what is gathered ---

# Readings of clocks, each between two of the time since boot: `clock BEFORE AFTER NAME VALUE STEP`, in nanoseconds.
clock() {
    now
    before=$ms
    value=$(date +%s.%N 2>/dev/null)
    step=1
    case $value in *[!0-9.]* | *.) value=$(date +%s).000000000 step=1000000000 ;; esac
    now
    note clock "${before}000000" "${ms}000000" realtime "${value%.*}${value#*.}" "$step"
    clock_in /proc/timer_list
    for debug in /sys/kernel/debug/sched/debug /proc/sched_debug; do clock_in "$debug"; done
    [ -z "$tracing" ] || clock_in "$tracing/per_cpu/cpu0/stats"
}

clock_in() {
    [ -r "$1" ] || return 0
    now
    before=$ms
    lines=0
    while [ "$lines" -lt 20 ] && read -r first second third rest; do
        lines=$((lines + 1))
        now
        case $first:$second in
        now:at) note clock "${before}000000" "${ms}000000" monotonic "$third" 1 && break ;;
        now:ts:)
            read -r names <"$tracing/trace_clock" || names='[]'
            names=${names#*\[}
            case $third in *.*) note clock "${before}000000" "${ms}000000" "trace.${names%%\]*}" "${third%.*}${third#*.}000" 1000 ;; esac
            break
            ;;
        # Milliseconds with six decimals.
        ktime:*) note clock "${before}000000" "${ms}000000" monotonic "${third%.*}${third#*.}" 1 ;;
        cpu_clk:*) note clock "${before}000000" "${ms}000000" printk "${third%.*}${third#*.}" 1 && break ;;
        esac
    done <"$1" 2>/dev/null
}

kernel_records() { # the kernel's log as records; the file never ends, so reading ends when nothing more comes
    if dd if=/dev/null iflag=nonblock 2>/dev/null; then
        dd if=/dev/kmsg bs=8192 iflag=nonblock 2>"$work/dd"
        case $(cat "$work/dd") in *'temporarily unavailable'*) return 0 ;; esac
        head -n 1 "$work/dd" >&2
        return 1
    fi
    dd if=/dev/kmsg bs=8192 2>"$work/dd" &
    reader=$! last=-1
    while sleep 1 && kill -0 "$reader" 2>/dev/null; do
        so_far=$(wc -c <"$target")
        [ "$so_far" != "$last" ] || { kill "$reader" && return 0; }
        last=$so_far
    done
    head -n 1 "$work/dd" >&2
    return 1
}

kernel() {
    if readable /dev/kmsg kernel/kmsg; then gather kernel/kmsg /dev/kmsg 20 16777216 text kernel_records; fi
    if dmesg -r >/dev/null 2>&1; then command_ kernel/dmesg 20 16777216 dmesg -r; else command_ kernel/dmesg 20 16777216 dmesg; fi
    if dmesg -J >/dev/null 2>&1; then
        command_ kernel/dmesg.json 20 33554432 dmesg -J
    else
        item kernel/dmesg.json missing - 0 0 'dmesg -J' 'this dmesg knows no JSON, or may not read the log'
    fi
    for name in cmdline version uptime cpuinfo meminfo interrupts filesystems partitions iomem stat mounts bootconfig; do
        file /proc/$name 1048576 text
    done
    ! readable /proc/modules proc/modules || gather proc/modules /proc/modules 10 1048576 text sed 's/ 0x[0-9a-fA-F]*/ 0x0/' /proc/modules
    release=$(uname -r)
    if [ -r /proc/config.gz ]; then
        file /proc/config.gz 1048576 bytes
    elif [ -r "/boot/config-$release" ]; then
        file "/boot/config-$release" 1048576 text
    else
        file "/lib/modules/$release/config" 1048576 text
    fi
    gather kernel/attributes.tsv 'small files of /proc and /sys' 20 1048576 text attributes
    gather kernel/devices.tsv '/sys/bus/*/devices' 60 16777216 text devices
    if [ -d /sys/class/devlink ]; then gather kernel/devlinks.txt /sys/class/devlink 20 4194304 text ls /sys/class/devlink; fi
    file /sys/kernel/debug/devices_deferred 1048576 text
}

attributes() { # PATH TAB VALUE; names of products, never numbers of single pieces
    for path in /sys/class/dmi/id/sys_vendor /sys/class/dmi/id/product_name /sys/class/dmi/id/product_version \
        /sys/class/dmi/id/board_vendor /sys/class/dmi/id/board_name /sys/class/dmi/id/bios_vendor /sys/class/dmi/id/bios_version \
        /sys/class/dmi/id/bios_date /sys/class/dmi/id/chassis_type /proc/device-tree/model /proc/device-tree/compatible \
        /sys/devices/system/clocksource/clocksource0/*_clocksource /sys/devices/system/clockevents/clockevent0/current_device \
        /sys/devices/system/cpu/online /sys/devices/system/cpu/possible /sys/devices/system/cpu/cpufreq/policy*/scaling_* \
        /sys/devices/system/cpu/cpufreq/policy*/cpuinfo_m*_freq /sys/devices/system/node/online /sys/hypervisor/type \
        /sys/kernel/random/boot_id /proc/sys/kernel/random/boot_id /proc/sys/kernel/osrelease /proc/sys/kernel/version \
        /proc/sys/kernel/tainted /proc/sys/kernel/printk /sys/module/printk/parameters/* /sys/kernel/security/lsm \
        /sys/firmware/efi/fw_platform_size /sys/module/initcall_debug /sys/block/*/queue/rotational /sys/block/*/size; do
        value=
        [ ! -d "$path" ] && [ -r "$path" ] && read -r value <"$path"
        # The last line may lack its end (and NUL ends the texts of a device tree): `read` fails then, but has read.
        [ -z "$value" ] || printf '%s\t%s\n' "$path" "$value"
    done 2>/dev/null
}

devices() { # BUS TAB DEVICE TAB DRIVER, the driver empty where none is bound
    for device in /sys/bus/*/devices/*; do
        bus=${device#/sys/bus/}
        driver=
        if cd -P "$device/driver" 2>/dev/null; then driver=${PWD##*/}; fi
        [ ! -e "$device" ] || printf '%s\t%s\t%s\n' "${bus%%/*}" "${device##*/}" "$driver"
    done
}

firmware() {
    for name in firmware_start_ns bootloader_load_ns bootloader_launch_ns exitbootservice_start_ns exitbootservice_end_ns; do
        file /sys/firmware/acpi/fpdt/boot/$name 4096 bytes
    done
    for name in LoaderTimeInitUSec LoaderTimeExecUSec LoaderInfo; do
        file /sys/firmware/efi/efivars/$name-4a67b082-0a4c-41cf-b6c7-440b29bb8c4f 4096 bytes
    done
    if [ -d /proc/device-tree/bootstage ]; then
        gather firmware/bootstage.txt /proc/device-tree/bootstage 20 1048576 text bootstage
    else
        item firmware/bootstage.txt missing - 0 0 /proc/device-tree/bootstage ''
    fi
    command_ firmware/cbmem.txt 20 1048576 cbmem -T
}

bootstage() { # the device tree's records, as U-Boot's own `bootstage report` prints them
    records=$(for record in /proc/device-tree/bootstage/*; do
        for of in mark accum; do
            [ -r "$record/$of" ] && [ -r "$record/name" ] || continue
            # shellcheck disable=SC2046 # four bytes, the largest first
            set -- $(od -An -tx1 -N4 "$record/$of")
            [ $# -ne 4 ] || echo "$of $((0x$1 << 24 | 0x$2 << 16 | 0x$3 << 8 | 0x$4)) $(tr -d '\000' <"$record/name")"
        done
    done | sort -k 2n)
    count=$(printf '%s\n' "$records" | grep -c '^mark ')
    printf 'Timer summary in microseconds (%s records):\n%11s%11s  %s\n' "$count" Mark Elapsed Stage
    before=0
    printf '%s\n' "$records" | while read -r of time stage_name; do
        [ "$of" = mark ] || continue
        printf '%11s%11s  %s\n' "$(grouped "$time")" "$(grouped $((time - before)))" "$stage_name"
        before=$time
    done
    printf '%s\n' "$records" | grep -q '^accum ' || return 0
    printf '\nAccumulated time:\n'
    printf '%s\n' "$records" | while read -r of time stage_name; do
        [ "$of" = mark ] || printf '%11s%11s  %s\n' '' "$(grouped "$time")" "$stage_name"
    done
}

grouped() { echo "$1" | sed -e ':again' -e 's/^\([0-9][0-9]*\)\([0-9][0-9][0-9]\)/\1,\2/' -e 't again'; }

init_system() {
    if [ ! -d /run/systemd/system ]; then
        item systemd skipped - 0 0 /run/systemd/system 'systemd is not what runs here'
        return
    fi
    command_ systemd/time.txt 30 65536 systemd-analyze time
    command_ systemd/blame.txt 30 4194304 systemd-analyze blame
    command_ systemd/critical-chain.txt 30 4194304 systemd-analyze critical-chain
    # On the system bus `plot` would ask hostnamed who this is, which starts it. Without that bus it talks to systemd alone, by its
    # own socket, which root may; others get no plot.
    command_ systemd/plot.json 60 16777216 env DBUS_SYSTEM_BUS_ADDRESS=unix:path=/dev/null systemd-analyze plot --json=short
    command_ systemd/plot.svg 60 33554432 env DBUS_SYSTEM_BUS_ADDRESS=unix:path=/dev/null systemd-analyze plot
    # By name, because the properties also hold the environment of units, which is nobody's business.
    times=FirmwareTimestampMonotonic,LoaderTimestampMonotonic,KernelTimestamp,KernelTimestampMonotonic
    for stamp in InitRD Userspace Finish SecurityStart SecurityFinish GeneratorsStart GeneratorsFinish UnitsLoadStart \
        UnitsLoadFinish InitRDSecurityStart InitRDSecurityFinish InitRDGeneratorsStart InitRDGeneratorsFinish \
        InitRDUnitsLoadStart InitRDUnitsLoadFinish SoftRebootStart ShutdownStart; do
        times=$times,${stamp}TimestampMonotonic
    done
    command_ systemd/manager.txt 30 65536 systemctl show -p "$times,Version,Virtualization,Architecture,SystemState,NFailedUnits,Tainted"
    command_ systemd/units.txt 60 33554432 systemctl show '*' -p "Id,Names,Type,ActiveState,SubState,Result,ConditionResult,\
InactiveExitTimestampMonotonic,ActiveEnterTimestampMonotonic,ActiveExitTimestampMonotonic,InactiveEnterTimestampMonotonic,\
ConditionTimestampMonotonic,AssertTimestampMonotonic,ExecMainStartTimestampMonotonic,ExecMainExitTimestampMonotonic,ExecMainStatus,\
CPUUsageNSec,NRestarts,After,Before,Requires,Requisite,BindsTo,Wants"
    command_ systemd/failed.txt 30 1048576 systemctl list-units --failed --plain --no-legend
    # The first ten minutes: what comes later is not a boot. Of the fields those that say what happened, not to whom.
    fields=MESSAGE,MESSAGE_ID,PRIORITY,_TRANSPORT,_PID,_COMM,SYSLOG_PID,SYSLOG_IDENTIFIER,SYSLOG_FACILITY,UNIT,_SYSTEMD_UNIT,JOB_TYPE,\
JOB_RESULT,UNIT_RESULT,KERNEL_USEC,INITRD_USEC,USERSPACE_USEC,_SOURCE_MONOTONIC_TIMESTAMP,_SOURCE_REALTIME_TIMESTAMP,\
_SOURCE_BOOTTIME_TIMESTAMP,_KERNEL_DEVICE,_KERNEL_SUBSYSTEM,_UDEV_SYSNAME,_BOOT_ID
    command_ systemd/journal.json 120 67108864 journalctl --no-pager -o json -b --until "@$((${booted:-0} + 600))" --output-fields="$fields"
    if command -v udevadm >/dev/null 2>&1; then
        gather udev/database.txt 'udevadm info -e' 60 33554432 text udev_database
    else
        item udev/database.txt missing - 0 0 'udevadm info -e' 'there is no udevadm'
    fi
}

udev_database() { # the properties that say what a device is and when it came; no serial numbers, no links made of them
    udevadm info -e | grep -E '^$|^(P|N|M|R|U|T|D|V): |^E: (ACTION|CURRENT_TAGS|DEVNAME|DEVPATH|DEVTYPE|DRIVER|ID_BUS|ID_FS_TYPE|ID_MODEL|ID_NET_DRIVER|ID_PATH|ID_VENDOR|IFINDEX|INTERFACE|MAJOR|MINOR|MODALIAS|OF_NAME|SEQNUM|SUBSYSTEM|SYSTEMD_WANTS|TAGS|UDEV_WORKER_FAILED|USEC_INITIALIZED)='
}

# Traces that were made during the boot and still stand there. Whatever is empty is not opened: on old kernels an open file
# `trace` holds the tracer.
traces() {
    if [ -z "$tracing" ]; then
        item sys/kernel/tracing missing - 0 0 /proc/mounts 'no tracefs is mounted'
        return
    fi
    for instance in "$tracing" "$tracing"/instances/*; do
        [ -e "$instance" ] || continue
        inside=sys/kernel/tracing${instance#"$tracing"}
        readable "$instance/trace" "$inside/trace" || continue
        entries=0
        for stats in "$instance"/per_cpu/cpu*/stats; do
            read -r word count 2>/dev/null <"$stats" && [ "$word" = entries: ] && entries=$((entries + count))
        done
        for name in current_tracer trace_clock trace_options buffer_size_kb set_event; do
            [ "$entries" = 0 ] || gather "$inside/$name" "$instance/$name" 10 1048576 text cat "$instance/$name"
        done
        if [ "$entries" -gt 0 ]; then
            gather "$inside/trace" "$instance/trace" 300 268435456 bytes cat "$instance/trace"
        else
            item "$inside/trace" empty - 0 0 "$instance/trace" 'the buffer holds nothing'
        fi
        if grep -q -v '^#' "$instance/snapshot" 2>/dev/null; then
            gather "$inside/snapshot" "$instance/snapshot" 300 268435456 bytes cat "$instance/snapshot"
        fi
        for histogram in "$instance"/events/initcall/*/hist "$instance"/events/synthetic/*/hist "$instance"/events/kprobes/*/hist; do
            grep -q '^# trigger info' "$histogram" 2>/dev/null || continue
            gather "$inside${histogram#"$instance"}" "$histogram" 30 16777216 bytes cat "$histogram"
        done
    done
}

# Charts that were drawn of this boot, not of an earlier one.
charts() {
    for chart in /var/log/bootchart.tgz /var/log/bootchart.tar.gz /var/log/bootchart/*.tgz /run/log/bootchart-*.svg /var/log/bootchart-*.svg; do
        [ -e "$chart" ] || continue
        case $chart in *.svg) kind=text ;; *) kind=bytes ;; esac
        if [ -e "$work/booted" ] && [ ! "$chart" -nt "$work/booted" ]; then
            item "${chart#/}" skipped - 0 0 "$chart" 'older than this boot'
        else
            file "$chart" 67108864 "$kind" 60
        fi
    done
}

# --- what is left out ---

# Rules for sed that put placeholders for what tells this machine from its like. The numbers themselves never leave here.
redaction() {
    {
        printf '%s\n' 's/([0-9A-Fa-f]{2}:){5}[0-9A-Fa-f]{2}/00:00:00:00:00:00/g' 's/([0-9A-Fa-f]{2}-){5}[0-9A-Fa-f]{2}/00-00-00-00-00-00/g'
        printf '%s\n' 's/(en|wl|ww)x[0-9a-f]{12}/\1x000000000000/g' 's/(SerialNumber: )[^"\\]*/\1SERIAL/g' 's/^(Serial[[:space:]]*: ).*/\1SERIAL/'
        printf '%s\n' 's#/home/[^]/[:space:]"'"'"',:;)>]+#/home/USER#g' 's/home-[A-Za-z0-9_]+(\\x2d[A-Za-z0-9_]+)*\.mount/home-USER.mount/g'
        printf '%s\n' 's/(,| )(username|user|password|credentials)=[^, ]*/\1\2=USER/g'
    } >"$rules"
    number=0
    identifiers | sort -u -r >"$work/identifiers"
    while read -r value; do
        number=$((number + 1))
        replace "$value" "SERIAL$number"
    done <"$work/identifiers"
    read -r value 2>/dev/null </proc/sys/kernel/hostname || value=
    case $value in *.*) host "$value" ;; esac
    host "${value%%.*}"
}

# The host's name is a word like any other: of a machine called `pci` the log would lose every `pci 0000:00:00.0`. So it is replaced
# where a log says that it is the host's; elsewhere only when no other word can be meant.
host() { # NAME
    case $1 in
    # So many are called so that it tells nothing.
    '' | ? | '(none)' | localhost | localhost.localdomain | linux | debian | ubuntu | fedora | arch | alpine | buildroot | openwrt | raspberrypi) return ;;
    server | host | machine | desktop | laptop | router | gateway | target | test) return ;;
    esac
    quoted=$(printf '%s\n' "$1" | sed 's/[]\/$*.^|(){}?+[]/\\&/g')
    # Nothing that makes it a part of another name, of a unit's, a file's or a device's.
    end='($|[^0-9A-Za-z._@\/\\-]|\\"|\.$|\.[^0-9A-Za-z]|\.local[^0-9A-Za-z-]|\.local$)'
    stamp='[A-Z][a-z][a-z] [ 0-9][0-9] [0-9:.]+|[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9:.,]+(Z|[+-][0-9:]+)?'
    cat >>"$rules" <<RULES
s/([Hh][Oo][Ss][Tt][ _-]?[Nn][Aa][Mm][Ee](["'\\\\]*[[:space:]]*[=:][[:space:]]*["'\\\\<(]*|( set| changed)? (to|is|was) ))$quoted$end/\\1HOSTNAME\\5/g
s/([Hh][Oo][Ss][Tt][ _-]?[Nn][Aa][Mm][Ee] [^"'<>\\\\]{0,40}["'\\\\<(]+)$quoted$end/\\1HOSTNAME\\2/g
s/((^|[^0-9A-Za-z])(host|HOST|node|nodename)=["'\\\\]*)$quoted$end/\\1HOSTNAME\\4/g
s/(ip=([^: "]*:){4})$quoted(:|[ "]|\$)/\\1HOSTNAME\\3/g
s/^((<[0-9]+>)?($stamp) )$quoted( [^] :[]+(\\[[0-9]+\\])?:( |\$))/\\1HOSTNAME\\5/
s/(Linux )$quoted( [0-9][^ ]* #[0-9])/\\1HOSTNAME\\2/g
s/( )$quoted( \\(Linux [0-9])/\\1HOSTNAME\\2/g
s/([Bb]oot ?chart for )$quoted$end/\\1HOSTNAME\\2/g
s/(^|[[:space:]"])$quoted( login:)/\\1HOSTNAME\\2/g
s/([0-9A-Za-z_]@)$quoted$end/\\1HOSTNAME\\2/g
s/((^|[[:space:]:])\\/\\/)$quoted([:\\/])/\\1HOSTNAME\\3/g
s/(^|[[:space:]="'])$quoted(:\\/[^\\/])/\\1HOSTNAME\\2/g
RULES
    ! distinctive "$1" || for _ in 1 2; do
        printf '%s\n' "s/(^|[^0-9A-Za-z._\\/\\\\-])$quoted$end/\\1HOSTNAME\\2/g" >>"$rules"
    done
}

distinctive() { # NAME: it has letters, nothing of the system is called so, and one of letters only is not a word of the kernel's
    case $1 in ?? | *[!0-9A-Za-z.-]*) return 1 ;; *[A-Za-z]*) ;; *) return 1 ;; esac
    case $1 in *[0-9.-]*) ;; ???) return 1 ;; *) ! of_the_kernel "$1" || return 1 ;; esac
    module=$(printf '%s\n' "$1" | tr - _)
    for path in /sys/"$1" /proc/"$1" /dev/"$1" /sys/*/"$1" /sys/bus/*/devices/"$1" /sys/bus/*/drivers/"$1" /sys/class/*/"$1" /sys/module/"$module" \
        /proc/sys/*/"$1" /lib/systemd/"$1" /lib/systemd/system/"$1".*; do
        [ ! -e "$path" ] || return 1
    done
    ! command -v "$1" >/dev/null
}

of_the_kernel() { # WORD: it said so before a program could tell it the host's name
    dmesg 2>/dev/null | sed -e '/[Hh]ost/d' -e '/ommand line:/d' -e '/\]: /d' -e '/Run .* as init process/q' | grep -qiw -e "$1"
}

replace() { # VALUE PLACEHOLDER: as a word, also in the names of systemd's units, where a dash is `\x2d`
    quoted=$(printf '%s\n' "$1" | sed 's/[]\/$*.^|(){}?+[]/\\&/g; s/-/(-|\\\\x2d)/g; s/ /[ _]/g')
    dashes=$(printf '%s\n' "$1" | tr -cd '-' | wc -c)
    # Twice, because two words that follow one another share what stands between them.
    for _ in 1 2; do
        printf 's/(^|[^0-9A-Za-z]|\\\\x2d)%s($|[^0-9A-Za-z])/\\1%s\\%s/g\n' "$quoted" "$2" "$((dashes + 2))" >>"$rules"
    done
}

identifiers() { # one on each line
    {
        for path in /sys/class/dmi/id/*_serial /sys/class/dmi/id/product_uuid /sys/class/dmi/id/*_asset_tag /etc/machine-id \
            /var/lib/dbus/machine-id /sys/block/*/device/serial /sys/block/*/serial /sys/block/*/wwid /sys/block/*/device/wwid \
            /sys/block/*/device/cid /sys/bus/usb/devices/*/serial /sys/class/power_supply/*/serial_number /proc/device-tree/serial-number; do
            [ ! -r "$path" ] || { tr '\000' '\n' <"$path" | head -n 1 && echo; }
        done
        sed -n 's/^Serial[[:space:]]*: *//p' /proc/cpuinfo
        ! command -v udevadm >/dev/null || udevadm info -e | sed -n -e 's/^E: ID_SERIAL_SHORT=//p' -e 's/^E: ID_WWN[A-Z_]*=//p'
    } 2>/dev/null | while read -r value; do
        # A root hub has the name of its controller for a number: names of devices stay. So does what could be any number.
        case $value in *[0-9]*) ;; *) continue ;; esac
        case $value in ????????* | ?????*[!0-9]* | *[!0-9]?????*) ;; *) continue ;; esac
        for device in /sys/bus/*/devices/"$value"; do [ -e "$device" ] || printf '%s\n' "$value"; done
    done
}

# --- the way of it ---

# A private directory, where there is room -> $work.
find_place() {
    for place in "${TMPDIR:-}" /tmp /var/tmp /run /dev/shm "$folder"; do
        [ -n "$place" ] || continue
        # By its whole path: what is gathered may look around elsewhere.
        case $place in /*) ;; *) place=./$place ;; esac
        place=$(cd -P "$place" && pwd -P) && [ -w "$place" ] || continue
        try=${place%/}/firstlight-collect.$$
        # It fails where something is, even a link: nobody can put a directory of his own in its place.
        if (trap '' INT TERM HUP && mkdir "$try") && work=$try; then
            room
            if [ "$room" -ge 4194304 ] && echo >"$work/status"; then return; fi
            rm -rf "$work"
        fi
        work=
    done 2>/dev/null
    fail 'there is no directory to work in' 'set TMPDIR to one that you may write and that has 16 MiB of room'
}

wait_for_systemd() {
    [ "$1" -gt 0 ] && [ -d /run/systemd/system ] && command -v systemctl >/dev/null || return 0
    say "waiting until the start is finished, at most $1 s"
    now
    until=$((ms + $1 * 1000))
    while [ "$ms" -lt "$until" ]; do
        limited 10 4096 "$work/finish" systemctl show -p FinishTimestampMonotonic
        case $(cat "$work/finish") in *=[1-9]*) return 0 ;; esac
        sleep 1
        now
    done
}

pack() { # FILE: owners as numbers of nobody in particular, where this tar can
    for options in '--owner=0 --group=0 --numeric-owner' '--numeric-owner' ''; do
        # shellcheck disable=SC2086 # words on purpose
        tar $options -cf "$1" -C "$work" firstlight-collection 2>"$work/error" && return 0
    done
    return 1
}

# Only a file is ever replaced: a device, a pipe or a folder in its place is somebody's.
free_name() {
    [ "$output" != - ] || return 0
    [ -e "$output" ] || [ -L "$output" ] || return 0
    [ ! -d "$output" ] || fail "$shown: is a directory" 'name a file in it'
    [ -f "$output" ] || fail "$shown: is there and is not a regular file" '-o - writes to standard output'
    [ -n "$force" ] || fail "$shown: there is something already" '-f replaces it'
}

# The whole tar gets its name; without -f only one of two gets it that end at once: a link is never made over what is there.
publish() {
    trap '' INT TERM HUP
    free_name
    if [ -n "$force" ]; then
        mv -f "$part" "$output" && part='' && return
    elif ln "$part" "$output" 2>/dev/null; then
        rm -f "$part"
        part='' && return
    fi
    free_name
    # A file system without hard links: the name is taken first, by an empty file.
    if [ -z "$force" ] && (set -C && : >"$output") 2>/dev/null; then
        mv -f "$part" "$output" && part='' && return
        rm -f "$output"
    fi
    free_name
    fail "$shown: the tar cannot be written" 'is there room, and may you write there?'
}

main() {
    quiet='' force='' redact=yes wait_s=0 output=firstlight-boot.tar
    work='' part='' timer='' job='' ended=${!:-} items=0 missing=0 denied=0 troubled=''
    while [ $# -gt 0 ]; do
        case $1 in
        -o | --wait) [ $# -ge 2 ] || fail "$1 lacks its value" 'see --help' 2 ;;
        esac
        case $1 in
        -o) output=$2 && shift ;;
        --wait) wait_s=$2 && shift ;;
        -f) force=yes ;;
        -q) quiet=yes ;;
        --no-redact) redact=no ;;
        -h | --help) usage && exit 0 ;;
        *) fail "there is no option $1" 'see --help' 2 ;;
        esac
        shift
    done
    case $wait_s in '' | *[!0-9]* | ??????*) fail "$wait_s is not a number of seconds" 'such as --wait 120' 2 ;; esac
    shown=$output
    # A name must not look like an option, nor like a machine's (`12:30.tar` is one for GNU tar).
    case $output in
    '') fail '-o lacks its value' 'see --help' 2 ;;
    -) [ ! -t 1 ] || fail 'a tar is nothing for a terminal' 'redirect the output, or give -o FILE.tar' 2 ;;
    /*) ;;
    *) output=./$output ;;
    esac
    case $output in -) folder=. ;; *) folder=${output%/*} ;; esac
    folder=${folder:-/}
    [ "$output" = - ] || { [ -d "$folder" ] && [ -w "$folder" ]; } || fail "${folder#./}: cannot be written" 'name a folder that is there, and that you may write to'
    free_name
    [ -r /proc/uptime ] || fail '/proc is not there' 'a system without /proc tells nothing of its boot'

    umask 077
    PATH=$PATH:/usr/sbin:/usr/bin:/sbin:/bin
    LC_ALL=C SYSTEMD_COLORS=0 SYSTEMD_PAGER='' SYSTEMD_URLIFY=0 SYSTEMD_LOG_LEVEL=err TZ=UTC
    export PATH LC_ALL SYSTEMD_COLORS SYSTEMD_PAGER SYSTEMD_URLIFY SYSTEMD_LOG_LEVEL TZ
    # Options from the environment would be added to ours.
    unset CDPATH TAR_OPTIONS TAR_WRITER_OPTIONS TAPE GREP_OPTIONS GZIP POSIXLY_CORRECT COLUMNS
    uid=$(id -u 2>/dev/null) || uid='?'
    command -v mkdir >/dev/null || mkdir() { busybox mkdir "$@"; }
    # Only noted until the directory is there and known: else it could be left behind.
    stopped=''
    trap 'stopped=130' INT
    trap 'stopped=143' TERM HUP
    find_place
    trap 'clean; exit 130' INT
    trap 'clean; exit 143' TERM HUP
    [ -z "$stopped" ] || { clean && exit "$stopped"; }
    # A busybox without links to its applets has them all the same.
    if command -v busybox >/dev/null && ! { command -v tar && command -v sed && command -v sleep; } >/dev/null; then
        mkdir "$work/bin" && busybox --install -s "$work/bin"
        PATH=$PATH:$work/bin
    fi
    command -v tar >/dev/null || fail 'there is no tar' 'busybox has one'
    extended=-E
    echo | sed -E '' >/dev/null 2>&1 || extended=-r
    stage=$work/firstlight-collection manifest=$work/firstlight-collection/manifest.tsv rules=$work/rules.sed
    mkdir "$stage"
    booted=$(sed -n 's/^btime //p' /proc/stat)
    touch -d "@${booted:-0}" "$work/booted" 2>/dev/null || rm -f "$work/booted"
    # The folder below debugfs is not looked at: to look mounts it.
    tracing=$(sed -n 's/^[^ ]* \([^ ]*\) tracefs .*/\1/p' /proc/mounts | head -n 1)

    wait_for_systemd "$wait_s"
    : >"$rules"
    [ "$redact" = no ] || redaction
    now
    note firstlight-collection 1
    note begun "${ms}000000"
    note user "$uid"
    note redacted "$redact"
    clock
    firmware
    kernel
    init_system
    charts
    traces
    clock
    now
    note ended "${ms}000000"
    note end "$items"

    if [ "$output" = - ]; then
        pack - || fail "the tar cannot be written: $(head -n 1 "$work/error")"
    else
        part=$output.part.$$
        pack "$part" || fail "$shown: the tar cannot be written: $(head -n 1 "$work/error")"
        publish
    fi
    [ "$output" = - ] || say "$shown: $items items looked for, $missing not there, $denied not permitted"
    [ "$denied" = 0 ] || [ "$uid" = 0 ] || say 'hint: root may read more'
    [ -z "$troubled" ] || say "not whole:$troubled (manifest.tsv says why)"
    clean
}

main "$@"
