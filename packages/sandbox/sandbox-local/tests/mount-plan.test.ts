import { areasOf, type SandboxPolicy } from '@dsh/sandbox'
import { expect, it } from 'vitest'
import { bwrapArgv } from '../src/bwrap-argv.ts'
import { isVisible, type PathKind, type PlanRequest, planMounts } from '../src/mount-plan.ts'

const files = ['/h/.dsh/.credentials.yaml', '/run/docker.sock']
const kindOf = (path: string): PathKind | undefined =>
  files.includes(path) ? 'file' : path.includes('absent') ? undefined : 'directory'

function plan(policy: Partial<SandboxPolicy> = {}, more: Partial<PlanRequest> = {}) {
  const full: SandboxPolicy = { mode: 'workspace-write', workspaceRoot: '/h/w', ...policy }
  return planMounts({
    areas: areasOf(full, more.tmp === undefined ? ['/tmp'] : []),
    tmp: { kind: 'host' },
    sockets: { directories: [], files: [] },
    kindOf,
    ...more,
  })
}
const words = (mounts: ReturnType<typeof plan>['mounts']) =>
  mounts.map((mount) => `${mount.kind} ${mount.path}${'source' in mount ? ` from ${mount.source}` : ''}`)

it('a workspace and the temporary directory are laid over a root that is read', () => {
  expect(words(plan().mounts)).toEqual(['read /', 'write /tmp', 'write /h/w'])
  expect(words(plan({ mode: 'read-only' }).mounts)).toEqual(['read /'])
  expect(words(plan({ workspaceRoot: '/' }).mounts)).toEqual(['write /', 'write /tmp'])
})

it('directories above a mount cannot be renamed away, because they are mounts too', () => {
  expect(words(plan({ workspaceRoot: '/tmp/a/b/w' }).mounts)).toEqual([
    'read /',
    'write /tmp',
    'write /tmp/a',
    'write /tmp/a/b',
    'write /tmp/a/b/w',
  ])
  expect(words(plan({ workspaceRoot: '/h', protectedPaths: ['/h/p/.git/hooks'] }).mounts).slice(3)).toEqual([
    'write /h/p',
    'write /h/p/.git',
    'read /h/p/.git/hooks',
  ])
})

it('a home inside the workspace is read-only, and its keys cannot be opened', () => {
  const policy = { workspaceRoot: '/h', protectedPaths: ['/h/.dsh'], hiddenPaths: ['/h/.dsh/.credentials.yaml'] }
  expect(words(plan(policy).mounts)).toEqual([
    'read /',
    'write /h',
    'write /tmp',
    'read /h/.dsh',
    'nothing /h/.dsh/.credentials.yaml',
  ])
})

it('a protected path that is not there is told, one outside every writable directory is none', () => {
  expect(plan({ protectedPaths: ['/h/w/absent', '/other/absent'] }).absent).toEqual(['/h/w/absent'])
  expect(words(plan({ protectedPaths: ['/etc'], hiddenPaths: ['/h/absent'] }).mounts)).toEqual(words(plan().mounts))
})

it('a private /tmp keeps what lies below the real one out, except the workspace and the home', () => {
  const policy = { workspaceRoot: '/tmp/w', protectedPaths: ['/tmp/home'] }
  const empty = plan(policy, { tmp: { kind: 'empty' } })
  expect(words(empty.mounts)).toEqual(['read /', 'empty /tmp', 'write /tmp/w', 'read /tmp/home'])
  const own = plan(policy, { tmp: { kind: 'own', source: '/s' } })
  expect(words(own.mounts)).toEqual(['read /', 'write /tmp from /s', 'write /tmp/w', 'read /tmp/home'])
  for (const one of [empty, own]) {
    expect(isVisible(one, '/tmp/x')).toBe(false)
    expect(isVisible(one, '/tmp/w/sub')).toBe(true)
    expect(isVisible(one, '/etc')).toBe(true)
  }
})

it('sockets are masked with the directory they lie in, or alone', () => {
  const sockets = { directories: ['/tmp/ssh-1'], files: ['/run/docker.sock'] }
  const { mounts } = plan({}, { sockets })
  expect(words(mounts)).toEqual(['read /', 'write /tmp', 'write /h/w', 'empty /tmp/ssh-1', 'nothing /run/docker.sock'])
  const argv = bwrapArgv(['/usr/bin/bwrap'], { mounts, network: 'none', root: false, cwd: '/h/w', statusFd: 3 }, [
    '/bin/true',
  ])
  expect(argv.join(' ')).toBe(
    '/usr/bin/bwrap --ro-bind / / --dev /dev --unshare-pid --unshare-ipc --proc /proc --die-with-parent --unshare-net --bind /tmp /tmp --bind /h/w /h/w --tmpfs /tmp/ssh-1 --ro-bind /dev/null /run/docker.sock --chdir /h/w --json-status-fd 3 -- /bin/true',
  )
  const readOnly = plan({ mode: 'read-only' }, { sockets }).mounts
  const sealed = bwrapArgv(['b'], { mounts: readOnly, network: 'shared', root: true, cwd: '/', statusFd: 3 }, [])
  expect(sealed.join(' ')).toContain(
    '--tmpfs /tmp/ssh-1 --ro-bind /dev/null /run/docker.sock --remount-ro /tmp/ssh-1 --chdir / ',
  )
  expect(sealed.join(' ')).toContain(
    '--cap-drop ALL --cap-add CAP_DAC_OVERRIDE --cap-add CAP_CHOWN --cap-add CAP_FOWNER --ro-bind /proc/sys /proc/sys',
  )
})
