# Let the kernel note what programs called lvm are asked to do and open, how much memory they have, and when they begin and end.
cd /sys/kernel/tracing || exit 0
echo x86-tsc >trace_clock
# A thousand volumes, each of which is looked for by each process that activates one: 100 MB of notes. Guests for so many
# have the room.
read -r _ memory _ </proc/meminfo
[ "$memory" -gt 3000000 ] && echo 393216 >buffer_size_kb || echo 65536 >buffer_size_kb
# The type of the file system, the directory and the name of what is opened, where the kernel keeps them
# (struct path, dentry, super_block and file_system_type of Linux 6.1 on x86_64).
echo 'p:opened vfs_open fs=+0(+0(+40(+104(+8(%di))))):string in=+0(+40(+24(+8(%di)))):string name=+0(+40(+8(%di))):string' >kprobe_events
# Its first two words, from the new stack, where struct linux_binprm has its address (argc, and the pointers above it).
echo 'p:arguments finalize_exec one=+u0(+u16(+24(%di))):ustring two=+u0(+u24(+24(%di))):ustring' >>kprobe_events
echo 'comm == "lvm"' >events/kprobes/arguments/filter
echo 'comm == "lvm"' >events/kprobes/opened/filter
echo 'comm == "lvm"' >events/kmem/rss_stat/filter
echo 'comm == "lvm"' >events/sched/sched_process_exec/filter
echo 'comm == "lvm"' >events/sched/sched_process_exit/filter
for event in kprobes/arguments kprobes/opened kmem/rss_stat sched/sched_process_exec sched/sched_process_exit; do
  echo 1 >events/$event/enable
done
