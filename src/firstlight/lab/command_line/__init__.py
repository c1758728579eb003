"""The words of the kernel's command line: who reads each of them."""
