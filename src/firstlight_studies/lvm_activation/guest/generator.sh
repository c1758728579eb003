#!/bin/sh
# Systemd runs this before it reads its units. What this boot is for stands on the kernel's command line, so that one root
# image serves all: `lvm.study=SETTING,LAYOUT,COUNT[,trace]`; and `lvm.disks=COUNT,COUNT...`, the partitions of each disk.
units=$1 first=$2
conf=/run/lvm-study
target=$units/lvm-study.target.wants
mkdir -p "$conf" "$target" /run/firstlight/export
setting='' disks=''
read -r line </proc/cmdline
for word in $line; do
  case $word in
    lvm.study=*) setting=${word#*=} ;;
    lvm.disks=*) disks=${word#*=} ;;
  esac
done
IFS=,
# shellcheck disable=SC2086 # to be split
set -- $setting
IFS=' '
setting=$1 layout=$2 count=$3 trace=$4
[ -n "$count" ] || exit 0

# The disks in the order in which they were attached, the root before them: the kernel numbers them in the order of the
# firmware's table, which is another, but their addresses ascend.
attached=$(for each in /sys/block/pmem*; do
  printf '%020d %s\n' "$(($(cat "$each/device/resource")))" "${each##*/}"
done | sort | sed -n '2,$s/.* //p' | tr '\n' ' ')

# The physical volumes, each with the end of its identifier, and the units of the logical ones.
wait=''
n=0
# shellcheck disable=SC2086 # to be split
set -- $attached
IFS=,
for parts in $disks; do
  disk=${1:-missing}
  [ $# -eq 0 ] || shift
  part=0
  while [ $part -lt "$parts" ]; do
    part=$((part + 1)) n=$((n + 1))
    digits=$((1000000 + n))
    digits=${digits#1}
    number=${digits#??}
    echo "/dev/${disk}p$part $digits $number"
    case $layout in
      groups) wait="$wait dev-g$number-v.device" ;;
      *) wait="$wait dev-all-v$number.device" ;;
    esac
  done
done >"$conf/volumes"
IFS=' '

event=1 local='' listed=no
case $setting in
  event | prepare) ;;
  obtain) local='devices/obtain_device_list_from_udev=1' ;;
  external) local='devices/external_device_info_source="udev"' ;;
  filter) local='devices/global_filter=["a|^/dev/pmem[0-9]+p[0-9]+$|","r|.*|"]' ;;
  rejected) local='devices/global_filter=["a|^/dev/pmem0$|","r|.*|"]' wait='' ;;
  listed) listed=yes local='devices/use_devicesfile=1' ;;
  static) event=0 ;;
  static-obtain) event=0 local='devices/obtain_device_list_from_udev=1' ;;
  static-external) event=0 local='devices/external_device_info_source="udev"' ;;
  none) wait='' ;;
  *) echo "no such setting: $setting" >/run/firstlight/export/errors ;;
esac
for word in $local; do echo "$word"; done >"$conf/lvmlocal.conf"
[ $event = 1 ] || echo 'global/event_activation=0' >>"$conf/lvmlocal.conf"
if [ $listed = yes ]; then
  echo 'VERSION=1.1.1'
  while read -r device digits _; do
    echo "IDTYPE=devname IDNAME=$device DEVNAME=$device PVID=F1rstlightphysicalvolumes0$digits"
  done <"$conf/volumes"
fi >"$conf/system.devices"

if [ "$setting" = prepare ]; then
  cat >"$units/prepare.service" <<END
[Unit]
DefaultDependencies=no
[Service]
Type=oneshot
ExecStart=/bin/sh /usr/lib/lvm-study/prepare.sh $layout $count
END
  ln -s ../prepare.service "$target/"
  # Without udev nothing looks at volumes while they are made. (systemd.mask= is done by a generator that is left out.)
  for unit in systemd-udevd systemd-udev-trigger lvm2-monitor; do
    ln -s /dev/null "$first/$unit.service"
  done
  exit 0
fi

cat >"$units/volumes.service" <<END
[Unit]
Description=Whatever needs all volumes
DefaultDependencies=no
${wait:+Requires=$wait
After=$wait}
[Service]
Type=oneshot
RemainAfterExit=yes
ExecStart=/run/firstlight/guest stamp volumes
END
cat >"$units/settled.service" <<END
[Unit]
DefaultDependencies=no
After=volumes.service systemd-udev-trigger.service lvm2-monitor.service
[Service]
Type=oneshot
ExecStart=/bin/sh /usr/lib/lvm-study/settled.sh $trace
END
ln -s ../volumes.service ../settled.service "$target/"
if [ $event = 0 ]; then
  cat >"$units/lvm-activate-all.service" <<END
[Unit]
Description=All volumes at once
DefaultDependencies=no
Requires=systemd-udev-settle.service
After=systemd-udev-settle.service
Before=volumes.service
[Service]
Type=oneshot
ExecStart=/sbin/lvm vgchange -aay
END
  ln -s ../lvm-activate-all.service "$target/"
fi
if [ "$trace" = trace ]; then
  cat >"$units/trace.service" <<END
[Unit]
DefaultDependencies=no
Requires=sys-kernel-tracing.mount
After=sys-kernel-tracing.mount
Before=systemd-udevd.service systemd-udev-trigger.service lvm2-monitor.service
[Service]
Type=oneshot
ExecStart=/bin/sh /usr/lib/lvm-study/trace.sh
END
  ln -s ../trace.service "$target/"
fi
