# The user land of the default initramfs: what a small one does from its first process to "ready".
# It does the same in every boot of one recipe, and gives up on nothing that a kernel may lack.
busybox --install -s /bin

hostname firstlight
mkdir -p /tmp /dev/pts /dev/shm /var/log
mount -t devpts -o gid=5,mode=620 devpts /dev/pts
mount -t tmpfs -o nosuid,nodev tmpfs /dev/shm
mount -t tmpfs -o nosuid,nodev tmpfs /tmp

for name in kernel/ostype kernel/osrelease kernel/pid_max vm/swappiness fs/file-max; do
    read -r value <"/proc/sys/$name" && echo "$name = $value" >>/var/log/sysctl
done
for bus in /sys/bus/*; do
    set -- "$bus"/devices/*
    echo "${bus##*/} $#" >>/var/log/devices
done
ps -o pid,comm >/var/log/processes
sync
exit 0
