# Let the kernel note what programs called lvm open, how much memory they have, and when they begin and end.
cd /sys/kernel/tracing || exit 0
echo x86-tsc >trace_clock
echo 65536 >buffer_size_kb
# The type of the file system, the directory and the name of what is opened, where the kernel keeps them
# (struct path, dentry, super_block and file_system_type of Linux 6.1 on x86_64).
echo 'p:opened vfs_open fs=+0(+0(+40(+104(+8(%di))))):string in=+0(+40(+24(+8(%di)))):string name=+0(+40(+8(%di))):string' >kprobe_events
echo 'comm == "lvm"' >events/kprobes/opened/filter
echo 'comm == "lvm"' >events/kmem/rss_stat/filter
echo 'comm == "lvm"' >events/sched/sched_process_exec/filter
echo 'comm == "lvm"' >events/sched/sched_process_exit/filter
for event in kprobes/opened kmem/rss_stat sched/sched_process_exec sched/sched_process_exit; do
  echo 1 >events/$event/enable
done
