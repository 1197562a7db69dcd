/*
 * landlock-run: run one command under a Landlock ruleset. More than 400 lines in one file, so that it can be read from
 * top to bottom and built by one call of any C compiler, without a header of ours or of a library.
 *
 *   landlock-run [--ro PATH]... [--rw PATH]... [--no-tcp] [--status-fd N] -- PROGRAM [ARGUMENT]...
 *   landlock-run --probe
 *
 * Everything that no rule names is neither read, executed nor changed. PROGRAM is a path. Where the kernel can, signals
 * and abstract sockets end at the confinement. Root keeps only the powers that work on files needs.
 *
 * Exit 125 with one line on stderr: the command was not run. Otherwise "exec\n" is written to the status descriptor just
 * before PROGRAM starts, and the descriptor does not reach it.
 *
 * Two processes stay behind, unconfined and idle. This one ends as PROGRAM did, by the same exit code or signal, and
 * shrugs off TERM and the like, which are for PROGRAM. The second one is PROGRAM's parent, in a process group of its own so
 * that no signal to a group hits it: when PROGRAM or this process is gone, it ends whatever PROGRAM left running, in
 * whichever session or group that may be. When the parent of this process dies, so does everything.
 *
 * Freestanding: no libc, so that one small static file works on every Linux of its architecture.
 */

typedef unsigned long u64;
typedef unsigned int u32;
typedef unsigned short u16;

#define NORETURN __attribute__((noreturn))

/* ---- the kernel ---- */

#if defined(__x86_64__)
enum { NR_read = 0, NR_write = 1, NR_close = 3, NR_rt_sigprocmask = 14, NR_getpid = 39, NR_setpgid = 109, NR_getpgid = 121, NR_clone = 56, NR_wait4 = 61,
       NR_kill = 62, NR_rt_sigtimedwait = 128, NR_execve = 59, NR_exit = 60, NR_fcntl = 72, NR_geteuid = 107, NR_capset = 126,
       NR_prctl = 157, NR_openat = 257, NR_statx = 332 };
__asm__(".globl _start\n_start:\n\txor %ebp, %ebp\n\tmov %rsp, %rdi\n\tand $-16, %rsp\n\tcall start_c\n\thlt\n");

static long call5(long nr, long a, long b, long c, long d, long e)
{
	long result;
	register long r10 __asm__("r10") = d;
	register long r8 __asm__("r8") = e;
	__asm__ volatile("syscall"
	                 : "=a"(result)
	                 : "a"(nr), "D"(a), "S"(b), "d"(c), "r"(r10), "r"(r8)
	                 : "rcx", "r11", "memory");
	return result;
}
#elif defined(__aarch64__)
enum { NR_read = 63, NR_write = 64, NR_close = 57, NR_rt_sigprocmask = 135, NR_getpid = 172, NR_setpgid = 154, NR_getpgid = 155, NR_clone = 220,
       NR_wait4 = 260, NR_kill = 129, NR_rt_sigtimedwait = 137, NR_execve = 221, NR_exit = 93, NR_fcntl = 25, NR_geteuid = 175, NR_capset = 91,
       NR_prctl = 167, NR_openat = 56, NR_statx = 291 };
__asm__(".globl _start\n_start:\n\tmov x29, xzr\n\tmov x0, sp\n\tand sp, x0, #-16\n\tbl start_c\n\tbrk #0\n");

static long call5(long nr, long a, long b, long c, long d, long e)
{
	register long x8 __asm__("x8") = nr;
	register long x0 __asm__("x0") = a;
	register long x1 __asm__("x1") = b;
	register long x2 __asm__("x2") = c;
	register long x3 __asm__("x3") = d;
	register long x4 __asm__("x4") = e;
	__asm__ volatile("svc #0" : "+r"(x0) : "r"(x8), "r"(x1), "r"(x2), "r"(x3), "r"(x4) : "memory");
	return x0;
}
#else
#error "x86_64 and aarch64 only"
#endif

/* The same numbers on both. */
enum { NR_openat2 = 437, NR_landlock_create_ruleset = 444, NR_landlock_add_rule = 445, NR_landlock_restrict_self = 446 };

enum { EPERM = 1, ENOENT = 2, EINTR = 4, E2BIG = 7, ENOEXEC = 8, EBADF = 9, ENOMEM = 12, EACCES = 13, ENOTDIR = 20, EINVAL = 22,
       ELOOP = 40, ENOSYS = 38, EOPNOTSUPP = 95 };

enum { AT_FDCWD = -100, AT_EMPTY_PATH = 0x1000, O_CLOEXEC = 02000000, O_PATH = 010000000,
#if defined(__aarch64__)
       O_NOFOLLOW = 0100000,
#else
       O_NOFOLLOW = 0400000,
#endif
       RESOLVE_NO_SYMLINKS = 4, STATX_TYPE = 1, S_IFMT = 0170000, S_IFDIR = 0040000, F_SETFD = 2, FD_CLOEXEC = 1 };

enum { SIGHUP = 1, SIGINT = 2, SIGQUIT = 3, SIGKILL = 9, SIGUSR1 = 10, SIGTERM = 15, SIGCHLD = 17, SIG_BLOCK = 0,
       SIG_SETMASK = 2, WNOHANG = 1, PR_SET_PDEATHSIG = 1, PR_SET_DUMPABLE = 4, PR_SET_CHILD_SUBREAPER = 36 };

enum { PR_CAPBSET_READ = 23, PR_CAPBSET_DROP = 24, PR_SET_NO_NEW_PRIVS = 38, PR_CAP_AMBIENT = 47,
       PR_CAP_AMBIENT_CLEAR_ALL = 4, CAP_CHOWN = 0, CAP_DAC_OVERRIDE = 1, CAP_FOWNER = 3 };

/* ---- words ---- */

static u64 length(const char *text)
{
	u64 n = 0;
	while (text[n])
		n++;
	return n;
}

static int same(const char *a, const char *b)
{
	while (*a && *a == *b)
		a++, b++;
	return *a == *b;
}

static void say(int fd, const char *text)
{
	u64 left = length(text);
	while (left > 0) {
		long n = call5(NR_write, fd, (long)text, (long)left, 0, 0);
		if (n <= 0)
			return;
		text += n;
		left -= (u64)n;
	}
}

static void say_number(int fd, u64 value)
{
	char digits[24];
	int at = sizeof digits;
	digits[--at] = 0;
	do
		digits[--at] = (char)('0' + value % 10);
	while (value /= 10);
	say(fd, digits + at);
}

static void say_error(long error)
{
	switch (error) {
	case EPERM: say(2, "Operation not permitted"); return;
	case ENOENT: say(2, "No such file or directory"); return;
	case E2BIG: say(2, "Argument list too long"); return;
	case ENOEXEC: say(2, "Exec format error"); return;
	case EBADF: say(2, "Bad file descriptor"); return;
	case EACCES: say(2, "Permission denied"); return;
	case ENOTDIR: say(2, "Not a directory"); return;
	case EINVAL: say(2, "Invalid argument"); return;
	case ELOOP: say(2, "Too many levels of symbolic links"); return;
	case ENOSYS: say(2, "Function not implemented"); return;
	default: say(2, "error "); say_number(2, (u64)error);
	}
}

static NORETURN void leave(int code)
{
	for (;;)
		call5(NR_exit, code, 0, 0, 0, 0);
}

static NORETURN void fail(const char *what, const char *subject, long error)
{
	say(2, "landlock-run: ");
	say(2, what);
	if (subject) {
		say(2, ": ");
		say(2, subject);
	}
	if (error) {
		say(2, ": ");
		say_error(error);
	}
	say(2, "\n");
	leave(125);
}

/* ---- Landlock ---- */

enum {
	EXECUTE = 1 << 0,
	WRITE_FILE = 1 << 1,
	READ_FILE = 1 << 2,
	READ_DIR = 1 << 3,
	MAKE_CHAR = 1 << 6,
	MAKE_BLOCK = 1 << 11,
	ALL_OF_ABI_1 = (1 << 13) - 1,
	REFER = 1 << 13,
	TRUNCATE = 1 << 14,
	IOCTL_DEV = 1 << 15,
	OF_FILES = EXECUTE | WRITE_FILE | READ_FILE | TRUNCATE | IOCTL_DEV,
	BIND_TCP = 1 << 0,
	CONNECT_TCP = 1 << 1,
	ABSTRACT_UNIX_SOCKET = 1 << 0,
	SIGNAL = 1 << 1,
	CREATE_RULESET_VERSION = 1,
	RULE_PATH_BENEATH = 1
};

struct ruleset { u64 fs, net, scoped; };
struct rule { u64 allowed; int fd; } __attribute__((packed));

static long abi(void)
{
	return call5(NR_landlock_create_ruleset, 0, 0, CREATE_RULESET_VERSION, 0, 0);
}

static u64 handled(long version)
{
	u64 rights = ALL_OF_ABI_1;
	if (version >= 2)
		rights |= REFER;
	if (version >= 3)
		rights |= TRUNCATE;
	if (version >= 5)
		rights |= IOCTL_DEV;
	return rights;
}

static int create_ruleset(long version, int no_tcp)
{
	struct ruleset attr = { handled(version), 0, 0 };
	u64 size = version < 4 ? 8 : version < 6 ? 16 : 24;
	if (version >= 4 && no_tcp)
		attr.net = BIND_TCP | CONNECT_TCP;
	if (version >= 6)
		attr.scoped = ABSTRACT_UNIX_SOCKET | SIGNAL;
	long fd = call5(NR_landlock_create_ruleset, (long)&attr, (long)size, 0, 0, 0);
	if (fd < 0)
		fail("landlock ruleset error", 0, -fd);
	return (int)fd;
}

/* A granted path is real: a link on the way to it was put there after the grant was decided. */
static long open_real(const char *path)
{
	struct { u64 flags, mode, resolve; } how = { O_PATH | O_CLOEXEC, 0, RESOLVE_NO_SYMLINKS };
	long fd = call5(NR_openat2, AT_FDCWD, (long)path, (long)&how, sizeof how, 0);
	if (fd == -ENOSYS || fd == -EPERM)
		fd = call5(NR_openat, AT_FDCWD, (long)path, O_PATH | O_CLOEXEC | O_NOFOLLOW, 0, 0);
	return fd;
}

static int is_directory(int fd, const char *path)
{
	unsigned char buffer[256] __attribute__((aligned(8)));
	long error = call5(NR_statx, fd, (long)"", AT_EMPTY_PATH, STATX_TYPE, (long)buffer);
	if (error < 0)
		fail("cannot open rule path", path, -error);
	return (*(u16 *)(buffer + 28) & S_IFMT) == S_IFDIR;
}

static void grant(int ruleset, const char *path, u64 rights)
{
	struct rule rule;
	long fd = open_real(path);
	if (fd < 0)
		fail("cannot open rule path", path, -fd);
	rule.fd = (int)fd;
	rule.allowed = is_directory(rule.fd, path) ? rights : rights & OF_FILES;
	long error = call5(NR_landlock_add_rule, ruleset, RULE_PATH_BENEATH, (long)&rule, 0, 0);
	if (error < 0)
		fail("landlock ruleset error", path, -error);
	call5(NR_close, fd, 0, 0, 0, 0);
}

/* Root could otherwise undo much of it from inside: device nodes, kernel modules, other processes' memory. */
static void drop_powers(void)
{
	const u32 keep = 1u << CAP_CHOWN | 1u << CAP_DAC_OVERRIDE | 1u << CAP_FOWNER;
	struct { u32 version; int pid; } header = { 0x20080522, 0 };
	struct { u32 effective, permitted, inheritable; } data[2] = { { keep, keep, keep }, { 0, 0, 0 } };
	call5(NR_prctl, PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0);
	for (long cap = 0; call5(NR_prctl, PR_CAPBSET_READ, cap, 0, 0, 0) >= 0; cap++)
		if (cap > 31 || !(keep >> cap & 1))
			call5(NR_prctl, PR_CAPBSET_DROP, cap, 0, 0, 0);
	/* A container may already hold less than this. */
	if (call5(NR_capset, (long)&header, (long)data, 0, 0, 0) < 0) {
		data[0].effective = data[0].permitted = data[0].inheritable = 0;
		long error = call5(NR_capset, (long)&header, (long)data, 0, 0, 0);
		if (error < 0)
			fail("cannot drop capabilities", 0, -error);
	}
}

/* ---- the command line ---- */

static NORETURN void usage(const char *what, const char *subject)
{
	say(2, "landlock-run: usage error: ");
	say(2, what);
	if (subject) {
		say(2, ": ");
		say(2, subject);
	}
	say(2, "\n");
	leave(125);
}

static int number(const char *text)
{
	int value = 0;
	if (!*text)
		usage("not a descriptor", text);
	for (const char *at = text; *at; at++) {
		if (*at < '0' || *at > '9' || value > 9999)
			usage("not a descriptor", text);
		value = value * 10 + (*at - '0');
	}
	return value;
}

static NORETURN void report(long version)
{
	say(1, version >= 5 ? "landlock: fully enforced\n" : "landlock: partially enforced (older ABI)\n");
	say(1, "abi ");
	say_number(1, (u64)version);
	say(1, "\n");
	leave(0);
}

/* ---- after the command ---- */

static u64 bit(int signal)
{
	return 1ul << (signal - 1);
}

/* Kills the children of this process, to which orphans below it come, until none is left. */
static void end_descendants(void)
{
	static const char head[] = "/proc/self/task/", tail[] = "/children";
	char path[64], list[4096], digits[24];
	long pid = call5(NR_getpid, 0, 0, 0, 0, 0);
	int at = 0, first = sizeof digits;
	for (const char *from = head; *from; from++)
		path[at++] = *from;
	do
		digits[--first] = (char)('0' + pid % 10);
	while (pid /= 10);
	while (first < (int)sizeof digits)
		path[at++] = digits[first++];
	for (const char *from = tail; *from; from++)
		path[at++] = *from;
	path[at] = 0;

	for (;;) {
		long fd = call5(NR_openat, AT_FDCWD, (long)path, O_CLOEXEC, 0, 0);
		long length = fd < 0 ? 0 : call5(NR_read, fd, (long)list, sizeof list, 0, 0);
		if (fd >= 0)
			call5(NR_close, fd, 0, 0, 0, 0);
		long child = 0;
		for (long i = 0; i < length; i++) {
			if (list[i] >= '0' && list[i] <= '9')
				child = child * 10 + (list[i] - '0');
			else {
				if (child > 0)
					call5(NR_kill, child, SIGKILL, 0, 0, 0);
				child = 0;
			}
		}
		/* Blocks until one of them is gone; with nobody to wait for, all are. */
		if (length <= 0 || call5(NR_wait4, -1, 0, 0, 0, 0) < 0)
			return;
		while (call5(NR_wait4, -1, 0, WNOHANG, 0, 0) > 0)
			;
	}
}

static NORETURN void end_as(int status)
{
	int signal = status & 0x7f;
	if (signal == 0)
		leave(status >> 8 & 0xff);
	u64 none = 0;
	call5(NR_prctl, PR_SET_DUMPABLE, 0, 0, 0, 0);
	call5(NR_rt_sigprocmask, SIG_SETMASK, (long)&none, 0, sizeof none, 0);
	call5(NR_kill, call5(NR_getpid, 0, 0, 0, 0, 0), signal, 0, 0, 0);
	leave(128 + signal);
}

/* The first process: as its child ends, so does it. */
static NORETURN void mirror(long child)
{
	int status = 0;
	while (call5(NR_wait4, child, (long)&status, 0, 0, 0) == -EINTR)
		;
	end_as(status);
}

/* The second process: waits for the command, or for the end of who wanted it. */
static NORETURN void watch(long command)
{
	u64 wanted = bit(SIGCHLD) | bit(SIGUSR1);
	for (;;) {
		if (call5(NR_rt_sigtimedwait, (long)&wanted, 0, 0, sizeof wanted, 0) == SIGUSR1) {
			end_descendants();
			leave(125);
		}
		for (;;) {
			int status = 0;
			long gone = call5(NR_wait4, -1, (long)&status, WNOHANG, 0, 0);
			if (gone <= 0)
				break;
			if (gone == command) {
				end_descendants();
				end_as(status);
			}
		}
	}
}

static long fork_or_fail(void)
{
	long child = call5(NR_clone, SIGCHLD, 0, 0, 0, 0);
	if (child < 0)
		fail("cannot fork", 0, -child);
	return child;
}

/* Returns in the process that becomes the command. */
static void leave_guards_behind(void)
{
	/* Blocked here and given back to the command: none may be lost in between. */
	u64 blocked = bit(SIGCHLD) | bit(SIGUSR1) | bit(SIGTERM) | bit(SIGINT) | bit(SIGHUP) | bit(SIGQUIT), before = 0;
	long group = call5(NR_getpgid, 0, 0, 0, 0, 0);
	call5(NR_rt_sigprocmask, SIG_BLOCK, (long)&blocked, (long)&before, sizeof blocked, 0);
	call5(NR_prctl, PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
	long child = fork_or_fail();
	if (child > 0)
		mirror(child);

	call5(NR_setpgid, 0, 0, 0, 0, 0);
	call5(NR_prctl, PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0);
	call5(NR_prctl, PR_SET_PDEATHSIG, SIGUSR1, 0, 0, 0);
	child = fork_or_fail();
	if (child > 0)
		watch(child);

	call5(NR_setpgid, 0, group, 0, 0, 0);
	call5(NR_prctl, PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
	call5(NR_rt_sigprocmask, SIG_SETMASK, (long)&before, 0, sizeof before, 0);
}

NORETURN __attribute__((used)) void start_c(long *stack)
{
	long argc = stack[0];
	char **argv = (char **)(stack + 1);
	char **environment = argv + argc + 1;
	long version = abi();
	int probe = argc == 2 && same(argv[1], "--probe");
	int no_tcp = 0, status = -1;
	long at, command = 0;

	if (!probe) {
		/* The whole line is read before anything is done. */
		for (at = 1; at < argc; at++) {
			if (same(argv[at], "--")) {
				command = at + 1;
				break;
			}
			if (same(argv[at], "--no-tcp")) {
				no_tcp = 1;
				continue;
			}
			int known = same(argv[at], "--ro") || same(argv[at], "--rw") || same(argv[at], "--status-fd");
			if (!known)
				usage("unknown argument", argv[at]);
			if (at + 1 >= argc)
				usage("missing value", argv[at]);
			at++;
			if (same(argv[at - 1], "--status-fd"))
				status = number(argv[at]);
		}
		if (!command || command >= argc)
			usage("no command", 0);
	}

	if (version <= 0)
		fail("landlock is not enforced by this kernel (ABI unsupported or disabled)", 0, 0);
	if (probe)
		report(version);

	int ruleset = create_ruleset(version, no_tcp);
	u64 everything = handled(version);
	for (at = 1; at < command - 1; at++) {
		if (same(argv[at], "--ro"))
			grant(ruleset, argv[++at], EXECUTE | READ_FILE | READ_DIR);
		else if (same(argv[at], "--rw"))
			grant(ruleset, argv[++at], everything & ~(u64)(MAKE_CHAR | MAKE_BLOCK));
		else if (same(argv[at], "--status-fd"))
			at++;
	}

	leave_guards_behind();
	if (call5(NR_geteuid, 0, 0, 0, 0, 0) == 0)
		drop_powers();
	long error = call5(NR_prctl, PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
	if (error < 0)
		fail("cannot set no_new_privs", 0, -error);
	error = call5(NR_landlock_restrict_self, ruleset, 0, 0, 0, 0);
	if (error < 0)
		fail("landlock ruleset error", 0, -error);
	call5(NR_close, ruleset, 0, 0, 0, 0);

	if (status >= 0) {
		error = call5(NR_fcntl, status, F_SETFD, FD_CLOEXEC, 0, 0);
		if (error < 0)
			fail("status descriptor", 0, -error);
		say(status, "exec\n");
	}
	error = call5(NR_execve, (long)argv[command], (long)(argv + command), (long)environment, 0, 0);
	if (status >= 0)
		say(status, "failed\n");
	fail("exec failed", argv[command], -error);
}
