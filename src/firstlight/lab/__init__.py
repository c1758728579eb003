"""What boots: architecture, kernel, guest image, machine, runner, recording."""
