"""What a thread waits for, by the functions of the kernel in which it left the processor."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum


class WaitReason(StrEnum):
    """What a sleeping thread waits for."""

    EPOLL = "epoll"
    POLL = "poll"
    FUTEX = "futex"
    CHILD = "a child"
    PIPE = "a pipe"
    SOCKET = "a socket"
    TERMINAL = "a terminal"
    SIGNAL = "a signal"
    PROBE = "a device probe"
    ASYNC = "asynchronous bodies"
    HELPER = "a helper program"
    KERNEL_THREAD = "a kernel thread's start"
    DEVTMPFS = "devtmpfs"
    CRYPTO_TEST = "a test of the crypto code"
    WORK = "a work item"
    PAGE = "a page or block"
    RCU = "an RCU grace period"
    LOCK = "a lock"
    IDLE_WORKER = "work"
    PARKED = "its own start or stop"
    EXIT = "the end of its exit"
    TIMER = "a timer"
    COMPLETION = "a completion"
    FUNCTION = "function"


@dataclass(frozen=True)
class Wait:
    """A reason and the function of the kernel that it was read from."""

    reason: WaitReason
    function: str

    @property
    def of_main_loop(self) -> bool:
        """Whether a thread of the kernel that waits so has nothing to do, and waits for the next request."""
        return self.reason in (WaitReason.IDLE_WORKER, WaitReason.FUNCTION, WaitReason.TIMER)

    def __str__(self) -> str:
        """The reason; for one that says nothing of its own, with the function that waits."""
        if self.reason is WaitReason.FUNCTION:
            return self.function
        if self.reason in _WITH_FUNCTION:
            return f"{self.reason} in {self.function}"
        return str(self.reason)


_WITH_FUNCTION = (WaitReason.TIMER, WaitReason.COMPLETION, WaitReason.LOCK)

#: Functions that state what is waited for. The innermost one counts.
_FUNCTIONS: dict[str, WaitReason] = {
    name: reason
    for reason, names in {
        WaitReason.EPOLL: "do_epoll_wait ep_poll",
        WaitReason.POLL: "do_sys_poll do_poll do_select core_sys_select poll_schedule_timeout",
        WaitReason.FUTEX: "futex_wait do_futex futex_wait_queue",
        WaitReason.CHILD: "do_wait",
        WaitReason.PIPE: "pipe_read pipe_write fifo_open wait_for_partner anon_pipe_read",
        WaitReason.SOCKET: (
            "unix_stream_read_generic unix_stream_data_wait __skb_wait_for_more_packets sk_wait_data "
            "unix_wait_for_peer sock_alloc_send_pskb inet_csk_accept unix_accept netlink_recvmsg"
        ),
        WaitReason.TERMINAL: "n_tty_read n_tty_write tty_wait_until_sent",
        WaitReason.SIGNAL: "do_sigtimedwait sigsuspend __do_sys_pause",
        WaitReason.PROBE: (
            "really_probe __driver_probe_device driver_probe_device wait_for_device_probe "
            "driver_deferred_probe_check_state"
        ),
        WaitReason.ASYNC: "async_synchronize_cookie_domain async_synchronize_full async_synchronize_full_domain",
        WaitReason.HELPER: "call_usermodehelper_exec __request_module",
        WaitReason.KERNEL_THREAD: "__kthread_create_on_node kthread_create_on_node",
        WaitReason.DEVTMPFS: "devtmpfs_submit_req",
        WaitReason.CRYPTO_TEST: "crypto_wait_for_test crypto_larval_wait",
        WaitReason.WORK: "__flush_work flush_work __flush_workqueue drain_workqueue cpuhp_issue_call smp_call_on_cpu",
        WaitReason.PAGE: (
            "io_schedule io_schedule_timeout folio_wait_bit_common folio_wait_bit wait_on_page_bit submit_bio_wait "
            "filemap_fault blk_execute_rq __wait_on_buffer bit_wait_io"
        ),
        WaitReason.RCU: (
            "synchronize_rcu __wait_rcu_gp synchronize_rcu_expedited synchronize_srcu __synchronize_srcu "
            "rcu_barrier synchronize_rcu_tasks"
        ),
        WaitReason.LOCK: (
            "mutex_lock __mutex_lock_slowpath mutex_lock_interruptible mutex_lock_killable down_read down_write "
            "rwsem_down_write_slowpath rwsem_down_read_slowpath percpu_down_write __percpu_down_read down "
            "down_interruptible rt_mutex_lock"
        ),
        WaitReason.PARKED: "kthread_park __kthread_parkme kthread_stop",
        WaitReason.EXIT: "do_task_dead",
    }.items()
    for name in names.split()
}

#: Functions that wait for something only when they themselves gave up the processor.
_INNERMOST = {
    "worker_thread": WaitReason.IDLE_WORKER,
    "rescuer_thread": WaitReason.IDLE_WORKER,
    "smpboot_thread_fn": WaitReason.IDLE_WORKER,
    "kthread": WaitReason.PARKED,
}

#: How a wait is made, when no function says for what; the caller is named with it.
_MEANS = {"schedule_timeout": WaitReason.TIMER, "do_nanosleep": WaitReason.TIMER, "msleep": WaitReason.TIMER}
_MEANS |= dict.fromkeys(("schedule_hrtimeout_range_clock", "schedule_hrtimeout_range"), WaitReason.TIMER)
_MEANS |= dict.fromkeys(("schedule_timeout_interruptible", "schedule_timeout_uninterruptible"), WaitReason.TIMER)
_MEANS |= dict.fromkeys(
    (
        *("__wait_for_common", "wait_for_common", "wait_for_completion", "wait_for_completion_timeout"),
        *("wait_for_completion_killable", "wait_for_completion_killable_timeout", "wait_for_completion_state"),
        *("wait_for_completion_interruptible", "wait_for_completion_interruptible_timeout"),
    ),
    WaitReason.COMPLETION,
)

_SWITCH = (
    *("__switch_to_asm", "__switch_to", "cpu_switch_to", "context_switch", "__schedule", "schedule"),
    *("schedule_preempt_disabled", "preempt_schedule_common", "preempt_schedule", "__schedule_loop"),
)
_PREEMPTED = ("preempt_schedule", "preempt_schedule_common", "preempt_schedule_irq", "preempt_schedule_notrace")


def preempted(stack: Sequence[str]) -> bool:
    """Whether a thread gave up the processor without going to sleep, by its stack, whatever its state was.

    :param stack: names of functions, the innermost first.

    >>> preempted(["__schedule", "preempt_schedule_irq", "do_wait"])
    True
    """
    return any(name in _PREEMPTED for name in stack[:4])


def wait_of(stack: Sequence[str]) -> Wait:
    """What a thread waits for, by its stack where it left the processor.

    The innermost function that states it decides; else how the wait was made, with the function that waits; else the
    innermost function behind the scheduler.

    :param stack: names of functions, the innermost first; suffixes of the compiler are ignored.

    >>> str(wait_of(["__schedule", "schedule", "schedule_timeout", "do_epoll_wait", "do_syscall_64"]))
    'epoll'
    >>> str(wait_of(["__schedule", "schedule", "schedule_timeout", "rcu_gp_fqs_loop", "kthread"]))
    'a timer in rcu_gp_fqs_loop'
    >>> str(wait_of(["__schedule", "schedule", "kauditd_thread", "kthread"]))
    'kauditd_thread'
    """
    names = [name.partition(".")[0] for name in stack]
    while names and names[0] in _SWITCH:
        names.pop(0)
    if not names:
        return Wait(WaitReason.FUNCTION, "schedule")
    if reason := _INNERMOST.get(names[0]):
        return Wait(reason, names[0])
    for place, name in enumerate(names):
        if reason := _FUNCTIONS.get(name):
            if reason is WaitReason.LOCK:
                outer = (each for each in names[place:] if _FUNCTIONS.get(each) is not WaitReason.LOCK)
                return Wait(reason, next(outer, name))
            return Wait(reason, name)
    means = None
    for name in names:
        if name not in _MEANS:
            return Wait(WaitReason.FUNCTION if means is None else means, name)
        means = _MEANS[name]
    return Wait(WaitReason.FUNCTION, names[-1])
