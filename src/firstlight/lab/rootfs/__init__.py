"""Root file systems and initramfs images: how they are made and checked."""
