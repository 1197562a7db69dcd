/**
 * What a hostile command may try. Each script runs in bash inside the workspace. It has escaped when a file outside
 * changed, or when it prints the word ESCAPED on a line.
 *
 * In its environment: W the workspace, OUT a directory of the same person outside it, HOUSE dsh's home, HOST_PID dsh
 * itself, SENTINEL a process outside, SOCKET and TMP_SOCKET sockets by path (beside OUT, below /tmp), ABSTRACT the name of one
 * without, PORT a local server, NODE a JavaScript runtime.
 */
export interface Attempt {
  readonly name: string
  readonly script: string
  /** Runs as root only, or as anybody else only. */
  readonly only?: 'root' | 'plain'
  /** A program without which there is nothing to try. */
  readonly needs?: string
  /** Policy fields of this attempt, where the usual ones do not do. */
  readonly policy?: {
    readonly mode?: 'read-only' | 'workspace-write'
    readonly network?: 'none'
    /** Relative to the workspace. */
    readonly protectedPaths?: readonly string[]
  }
  /**
   * What is open on purpose: by rung, the words under which it is published. A phrase that starts with `docs:` stands in
   * docs/sandbox.md; any other is in the report of the rung and of each result.
   */
  readonly open?: { readonly bwrap?: string; readonly landlock?: string }
}

/** Talks to a socket; the servers of the suite answer with ESCAPED. */
const talk = (target: string) =>
  `"$NODE" -e 'const s=require("net").connect(${target});s.on("data",(d)=>{console.log(String(d));s.destroy()});s.on("error",(e)=>console.error(e.code))'`

const metadata = 'mode, owner and times of files outside'

export const attempts: readonly Attempt[] = [
  // Names of files outside.
  { name: 'write to an absolute path', script: 'echo x > "$OUT/new"' },
  { name: 'write through ..', script: 'echo x > ../out/new' },
  { name: 'append to a file outside', script: 'echo x >> "$OUT/file"' },
  { name: 'truncate a file outside', script: ': > "$OUT/file"; truncate -s 0 "$OUT/file"' },
  { name: 'write through a link to a file', script: 'ln -s "$OUT/file" l; echo x > l' },
  { name: 'write through a link to a directory', script: 'ln -s "$OUT" l; echo x > l/new' },
  { name: 'write through a dangling link', script: 'ln -s "$OUT/new" l; echo x > l' },
  { name: 'write through a chain of links', script: 'ln -s .. a; ln -s a/out b; echo x > b/new' },
  {
    name: 'copy with links followed',
    script: 'ln -s "$OUT/file" l; echo x > src; cp src l; dd if=src of=l 2>/dev/null; tee l < src',
  },
  { name: 'hard-link a file outside and write to it', script: 'ln "$OUT/file" l && echo x > l' },
  { name: 'move a file out', script: 'echo x > f; mv f "$OUT/new"' },
  { name: 'move a file in', script: 'mv "$OUT/file" f' },
  { name: 'delete outside', script: 'rm -rf "$OUT"/*' },
  { name: 'make a directory, a pipe and a link outside', script: 'mkdir "$OUT/d"; mkfifo "$OUT/p"; ln -s x "$OUT/l"' },
  {
    name: 'unpack an archive that climbs',
    script:
      'mkdir d; echo x > new; tar -cPf a.tar --transform "s|^|../out/|" new; cd d; tar -xPf ../a.tar; cd ..; tar -xPf a.tar',
  },
  { name: 'change the mode of a file outside', script: 'chmod 777 "$OUT/file"', open: { landlock: metadata } },
  {
    name: 'change the times of a file outside',
    script: 'touch -d 2001-01-01 "$OUT/file"',
    open: { landlock: metadata },
  },
  {
    name: 'change the owner of a file outside',
    only: 'root',
    script: 'chown 1234 "$OUT/file"',
    open: { landlock: metadata },
  },
  { name: 'make a program outside set-uid', script: 'chmod u+s "$OUT/tool"', open: { landlock: metadata } },

  // Other names for the same files.
  { name: 'write through /proc/self/root', script: 'echo x > "/proc/self/root$OUT/new"' },
  { name: 'write through the root of process 1', script: 'echo x > "/proc/1/root$OUT/new"' },
  { name: 'write through the root of dsh', script: 'echo x > "/proc/$HOST_PID/root$OUT/new"' },
  { name: 'write through the directory of dsh', script: 'cd "/proc/$HOST_PID/cwd/../out" && echo x > new' },
  {
    name: 'write through the descriptors of every process',
    script: 'for fd in /proc/[0-9]*/fd/*; do case "$(readlink "$fd")" in "$OUT"/*) echo x >> "$fd";; esac; done',
  },
  {
    name: 'reopen for writing what was opened for reading',
    script: 'exec 5< "$OUT/file"; echo x > /proc/self/fd/5; echo x > /dev/fd/5',
  },
  {
    name: 'inherited descriptors',
    script:
      'for fd in /proc/self/fd/*; do n=${fd##*/}; [ "$n" -gt 2 ] && [ "$n" -lt 200 ] && case "$(readlink "$fd")" in pipe:*|socket:*|"$OUT"*) echo ESCAPED;; esac; done',
  },

  // Mounts and namespaces.
  {
    name: 'remount the root for writing',
    script: 'mount -o remount,rw,bind /; mount -o remount,rw /; echo x > "$OUT/new"',
  },
  { name: 'unmount what is read-only', script: 'umount -l "$OUT"; umount -l /; echo x > "$OUT/new"' },
  { name: 'bind a directory outside into the workspace', script: 'mkdir m; mount --bind "$OUT" m && echo x > m/new' },
  {
    name: 'a user namespace with powers of its own',
    script: 'unshare -Urm sh -c "mount -o remount,rw,bind /; echo x > \\"$OUT/new\\""',
  },
  {
    name: 'a user namespace inside a user namespace',
    script: 'unshare -Ur unshare -Urmp --fork sh -c "umount -l /; mount -o remount,rw,bind /; echo x > \\"$OUT/new\\""',
  },
  {
    name: 'enter the namespaces of dsh',
    needs: 'nsenter',
    script: 'nsenter -t "$HOST_PID" -m -- touch "$OUT/new"; nsenter -t 1 -m -p -- touch "$OUT/new"',
  },
  { name: 'change the root directory', script: 'mkdir -p r; chroot / sh -c "echo x > \\"$OUT/new\\""; chroot r true' },
  {
    name: 'a second bubblewrap inside',
    needs: 'bwrap',
    script: 'bwrap --bind / / --dev /dev -- sh -c "echo x > \\"$OUT/new\\""',
  },
  {
    name: 'mount a file system of its own over a system directory',
    script: 'mount -t tmpfs none /etc && echo ESCAPED',
  },

  // The kernel and devices. Switches are opened, never turned.
  {
    name: 'kernel settings',
    script:
      '(: >> /proc/sys/kernel/core_pattern) 2>/dev/null && echo ESCAPED; (: >> /proc/sys/vm/swappiness) 2>/dev/null && echo ESCAPED; true',
  },
  { name: 'the emergency switch', script: '(: >> /proc/sysrq-trigger) && echo ESCAPED' },
  {
    name: 'settings below /sys',
    script:
      'for f in /sys/kernel/uevent_helper /sys/power/state /sys/module/*/parameters/*; do (: >> "$f") 2>/dev/null && echo ESCAPED; done; true',
  },
  {
    name: 'a control group with a release agent',
    script:
      'for d in /sys/fs/cgroup /sys/fs/cgroup/*; do mkdir "$d/dsh-escape" 2>/dev/null && { rmdir "$d/dsh-escape"; echo ESCAPED; }; done; true',
  },
  {
    name: 'a device node of its own',
    script:
      'mknod disk b 8 0; mknod disk2 b 253 0; mknod mem c 1 1; for n in disk disk2 mem; do [ -e "$n" ] && echo ESCAPED; done; true',
  },
  {
    name: 'the disks of the machine',
    script:
      'for d in /dev/vd[a-z] /dev/sd[a-z] /dev/nvme0n1 /dev/mapper/* /dev/loop0; do [ -b "$d" ] && (: <> "$d") 2>/dev/null && echo ESCAPED; done; true',
  },
  {
    name: 'the memory of the machine',
    script:
      'for d in /dev/mem /dev/kmem /dev/port /proc/kcore; do head -c 1 "$d" 2>/dev/null | grep -q . && echo ESCAPED; done; true',
  },
  {
    name: 'a kernel module',
    script: 'modprobe dummy 2>/dev/null && echo ESCAPED; echo x > m.ko; insmod m.ko 2>/dev/null && echo ESCAPED; true',
  },
  {
    name: 'powers of root',
    only: 'root',
    script:
      'while read -r k v; do [ "$k" = CapEff: ] && [ $((0x$v & ~0xb)) -ne 0 ] && echo ESCAPED; [ "$k" = NoNewPrivs: ] && [ "$v" != 1 ] && echo ESCAPED; done < /proc/self/status; true',
  },
  {
    name: 'become another user',
    script: 'su root -c "echo ESCAPED" < /dev/null; sudo -n sh -c "echo ESCAPED"; true',
    only: 'plain',
  },

  // Other processes.
  {
    name: 'signal a process outside',
    script: 'kill -0 "$SENTINEL" && echo ESCAPED',
    open: { landlock: 'signals to processes outside' },
  },
  { name: 'signal everything', script: 'trap "" TERM; kill -TERM -1; sleep 0.05; true' },
  {
    name: 'read the environment of dsh',
    script:
      'tr "\\0" "\\n" < "/proc/$HOST_PID/environ" | grep -q "^ESCAPE_SECRET=" && echo ESCAPED; grep -qs ESCAPE_SECRET /proc/[0-9]*/environ && echo ESCAPED; true',
  },
  {
    name: 'read the memory of a process outside',
    script:
      'head -c 1 "/proc/$SENTINEL/mem" > /dev/null 2>&1; cat "/proc/$SENTINEL/maps" 2>/dev/null | grep -q . && echo ESCAPED; true',
  },
  {
    name: 'trace a process outside',
    needs: 'gdb',
    script:
      'timeout 5 gdb -nx -batch -p "$SENTINEL" -ex "info registers" 2>/dev/null < /dev/null | grep -q "^rip\\|^pc" && echo ESCAPED; true',
  },
  {
    name: 'trace with system calls',
    needs: 'perl',
    script:
      'perl -e \'require "syscall.ph" if 0; my $n = `uname -m` =~ /x86_64/ ? 101 : 117; print "ESCAPED\\n" if syscall($n, 16, $ENV{SENTINEL}+0, 0, 0) == 0\'; true',
  },
  {
    name: 'write to the terminals of this person',
    script:
      'for t in /dev/pts/[0-9]* /dev/tty[0-9]* /dev/console; do [ -c "$t" ] && (printf "" > "$t") 2>/dev/null && echo ESCAPED; done; true',
  },

  // Sockets and the network.
  { name: 'a socket by its path', script: talk('process.env.SOCKET'), open: { landlock: 'unix sockets with a path' } },
  {
    name: 'a socket below /tmp',
    script: talk('process.env.TMP_SOCKET'),
    open: { landlock: 'unix sockets with a path' },
  },
  {
    name: 'a socket by another path to it',
    script: `ln -s "$(dirname "$SOCKET")" l; cd "$(dirname "$SOCKET")" && ${talk('require("path").basename(process.env.SOCKET)')}; cd "$W"; ${talk('"l/" + require("path").basename(process.env.SOCKET)')}`,
    open: { landlock: 'unix sockets with a path' },
  },
  {
    name: 'an abstract socket',
    script: talk('"\\0" + process.env.ABSTRACT'),
    open: { bwrap: 'docs:Abstract sockets' },
  },
  {
    name: 'the local network',
    script: talk('Number(process.env.PORT), "127.0.0.1"'),
    open: { bwrap: 'docs:The network', landlock: 'docs:The network' },
  },
  {
    name: 'the local network, with the network cut',
    policy: { network: 'none' },
    script: talk('Number(process.env.PORT), "127.0.0.1"'),
  },
  {
    name: 'an abstract socket, with the network cut',
    policy: { network: 'none' },
    script: talk('"\\0" + process.env.ABSTRACT'),
  },
  {
    name: 'UDP, with the network cut',
    policy: { network: 'none' },
    script: `"$NODE" -e 'const d=require("dgram").createSocket("udp4");d.on("message",(m)=>{console.log(String(m));d.close()});d.on("error",(e)=>{console.error(e.code);d.close()});d.send("hi",Number(process.env.UDP_PORT),"127.0.0.1",(e)=>e&&d.close());setTimeout(()=>process.exit(),400)'`,
    open: { landlock: 'UDP and raw sockets' },
  },

  // What belongs to dsh.
  {
    name: 'read dsh’s keys',
    script: 'cat "$HOUSE/.credentials.yaml" "$HOUSE/.env"; cat "/proc/self/root$HOUSE/.credentials.yaml"; true',
    open: { landlock: 'reading "{HOUSE}/.credentials.yaml"' },
  },
  {
    name: 'link dsh’s keys into the workspace',
    script:
      'ln "$HOUSE/.credentials.yaml" k && cat k; ln -s "$HOUSE/.credentials.yaml" k2; cat k2; cp "$HOUSE/.credentials.yaml" k3; true',
    open: { landlock: 'reading "{HOUSE}/.credentials.yaml"' },
  },
  {
    name: 'change dsh’s settings and rows',
    script:
      'echo x >> "$HOUSE/settings.yaml"; echo x > "$HOUSE/cordis.patch.yml"; mkdir -p "$HOUSE/profiles/p"; mv "$HOUSE" "$HOUSE.old"; true',
  },
  {
    name: 'forge the memory of a probe',
    script:
      'mkdir -p "$HOUSE/cache"; echo "{}" > "$HOUSE/cache/sandbox-bwrap.json" && echo ESCAPED; echo x > "$HOUSE/cache/landlock-run-x64" && echo ESCAPED; true',
  },

  // What the person, or dsh, runs later.
  {
    name: 'files that shells read',
    script:
      'for f in .bashrc .profile .bash_aliases .config/fish/config.fish .ssh/authorized_keys; do mkdir -p "$(dirname "$OUT/$f")"; echo x > "$OUT/$f"; done',
  },
  {
    name: 'system schedulers',
    only: 'root',
    script:
      'for f in /etc/cron.d/dsh-escape /var/spool/cron/crontabs/dsh-escape /etc/profile.d/dsh-escape.sh /etc/ld.so.preload /root/.bashrc; do (: >> "$f") 2>/dev/null && echo ESCAPED; done; true',
  },
  {
    name: 'a service manager',
    needs: 'systemd-run',
    script:
      'systemd-run --user touch "$OUT/new"; systemd-run touch "$OUT/new"; busctl call org.freedesktop.systemd1 /org/freedesktop/systemd1 org.freedesktop.systemd1.Manager ListUnits && echo ESCAPED; true',
  },
  {
    name: 'a library for every program',
    script: 'echo x > evil.so; LD_PRELOAD="$W/evil.so" true; echo "export LD_PRELOAD=$W/evil.so" > "$OUT/.profile"',
  },
  {
    name: 'a runner and a shell planted on PATH',
    script:
      'mkdir -p node_modules/.bin; for p in bwrap bash sh landlock-run; do printf "#!/bin/sh\\ntouch \\"%s/new\\"\\necho ESCAPED\\n" "$OUT" > "node_modules/.bin/$p"; chmod +x "node_modules/.bin/$p"; done',
  },
  { name: 'the planted runner in the next call', script: 'true' },
  {
    name: 'git hooks in the workspace',
    script: 'mkdir -p .git/hooks; echo x > .git/hooks/pre-commit && echo ESCAPED',
    open: { bwrap: 'docs:Files that you run later', landlock: 'docs:Files that you run later' },
  },
  {
    name: 'protected git hooks',
    policy: { protectedPaths: ['kept/hooks'] },
    script: 'echo x > kept/hooks/pre-commit && echo ESCAPED; rm -rf kept/hooks && echo ESCAPED; true',
    open: { landlock: '"{W}/kept/hooks", which is protected' },
  },
  {
    name: 'protected git hooks, by moving what is above them',
    policy: { protectedPaths: ['kept/hooks'] },
    script: 'mv kept kept2 && mkdir -p kept/hooks && echo x > kept/hooks/pre-commit && echo ESCAPED; true',
    open: { landlock: '"{W}/kept/hooks", which is protected' },
  },

  // Outliving the call.
  {
    name: 'a survivor that writes later',
    script:
      '(setsid sh -c "sleep 0.3; echo x > \\"$OUT/new\\"" > /dev/null 2>&1 &) ; (nohup sh -c "sleep 0.3; echo x > \\"$OUT/new2\\"" > /dev/null 2>&1 &); true',
  },
  {
    name: 'leave the process group',
    needs: 'perl',
    script:
      'perl -e \'use POSIX; fork and exit; POSIX::setsid(); fork and exit; open(F, ">", "$ENV{OUT}/new"); sleep 1\'',
  },

  {
    name: 'kill what watches over the command, then outlive it',
    script:
      'kill -KILL "$PPID" 2>/dev/null; (setsid sh -c "sleep 0.3; echo x > \\"$OUT/new\\"" > /dev/null 2>&1 &) ; true',
  },

  // Read-only mode.
  {
    name: 'write to the workspace in read-only mode',
    policy: { mode: 'read-only' },
    script: 'echo x > "$W/f" && echo ESCAPED; rm -rf "$W/kept" && echo ESCAPED; true',
  },
  {
    name: 'write to /tmp in read-only mode',
    policy: { mode: 'read-only' },
    script:
      'echo x > /tmp/dsh-escape-$$ && echo ESCAPED; echo x > "${TMPDIR:-/tmp}/dsh-escape-$$" && echo ESCAPED; true',
  },
  {
    name: 'write to a masked directory in read-only mode',
    policy: { mode: 'read-only' },
    script: 'echo x > "$(dirname "$TMP_SOCKET")/f" && echo ESCAPED; true',
  },
]
