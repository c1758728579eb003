# Make the volumes: `prepare.sh LAYOUT COUNT`. lvm2 writes every byte of them.
layout=$1 count=$2
exec >/run/firstlight/export/said 2>/run/firstlight/export/errors
size='--metadatasize 1980k'
extent='-s 64k'
# Nobody answers what lvm2 would ask of udev here, and nothing is to be activated.
config='activation/udev_sync=0 activation/udev_rules=0 devices/hints="none" backup/backup=0 backup/archive=0'
volumes=/run/lvm-study/volumes

{
# Without this line lvm takes the file for the name of a command.
echo '#!/sbin/lvm'
while read -r device digits number; do
  uuid=F1rstl-ight-phys-ical-volu-mes0-$digits
  echo "pvcreate --config '$config' --devices $device -u $uuid --norestorefile $size $device"
  if [ "$layout" = groups ]; then
    echo "vgcreate --config '$config' --devices $device $extent g$number $device"
    echo "lvcreate --config '$config' --devices $device -an -Zn -Wn -l 1 -n v g$number"
  fi
done <$volumes
} >/run/commands
lvm /run/commands || exit 1

if [ "$layout" = group ]; then
  # shellcheck disable=SC2046 # to be split
  lvm vgcreate --config "$config" $extent all $(cut -d' ' -f1 $volumes) || exit 1
  lvm vgcfgbackup --config "$config" -f /run/before all || exit 1
  # One logical volume on each physical one, in one change: one at a time would write all the metadata each time.
  awk -v count="$count" '
    /^\tphysical_volumes \{$/ { inside = 1 }
    { print }
    /^\t\}$/ && inside {
      inside = 0
      print "\tlogical_volumes {"
      for (n = 0; n < count; n++) {
        printf "v%04d {\nid = \"F1rstl-ight-logi-cal0-volu-mes0-%06d\"\n", n + 1, n
        print "status = [\"READ\", \"WRITE\", \"VISIBLE\"]\nflags = []\ncreation_time = 1704067200"
        print "creation_host = \"firstlight\"\nsegment_count = 1\nsegment1 {\nstart_extent = 0\nextent_count = 1"
        printf "type = \"striped\"\nstripe_count = 1\nstripes = [ \"pv%d\", 0 ]\n}\n}\n", n
      }
      print "\t}"
    }' /run/before >/run/after
  lvm vgcfgrestore --config "$config" -f /run/after all || exit 1
fi
found=$(lvm lvs --config "$config" --noheadings -o lv_name | wc -l)
[ "$found" = "$count" ] && echo yes >/run/firstlight/export/prepared
