/**
 * Runs the attempts through the rows that run every command, as whoever starts this file. Bundled by the suite, so that a
 * plain user can run it too. argv: the directory of the run, the rung (`none`: nothing confines), a list of attempts as JSON. Prints the results as JSON.
 */
import { spawn } from 'node:child_process'
import { createHash } from 'node:crypto'
import dgram from 'node:dgram'
import fs from 'node:fs'
import net from 'node:net'
import path from 'node:path'
import * as bashSandbox from '@dsh/bash-sandbox'
import { Context } from '@dsh/cordis'
import * as sandboxLocal from '@dsh/sandbox-local'
import * as sandboxPolicy from '@dsh/sandbox-policy'
import * as subprocess from '@dsh/subprocess-local'
import type { Attempt } from './attempts.ts'

export interface Outcome {
  readonly name: string
  readonly escaped: boolean
  readonly changed: readonly string[]
  readonly stdout: string
  readonly stderr: string
  readonly rung: string | undefined
  readonly notCovered: readonly string[]
}

const [base, rung, list] = process.argv.slice(2) as [string, string, string]
const at = (...parts: string[]) => path.join(base, ...parts)
const attempts = JSON.parse(list) as Attempt[]
const secret = 'ESCAPED: the key of dsh'
process.env['ESCAPE_SECRET'] = secret

function reset(): void {
  for (const name of ['w', 'out']) {
    fs.rmSync(at(name), { recursive: true, force: true })
    fs.mkdirSync(at(name))
  }
  fs.mkdirSync(at('w/kept/hooks'), { recursive: true })
  fs.writeFileSync(at('out/file'), 'before\n')
  fs.writeFileSync(at('out/tool'), '#!/bin/sh\n', { mode: 0o755 })
  fs.mkdirSync(at('house'), { recursive: true })
  for (const key of ['.credentials.yaml', '.env']) fs.writeFileSync(at('house', key), `${secret}\n`)
  fs.writeFileSync(at('house/settings.yaml'), '')
}

/** Where dsh itself writes while commands run. */
const ownDirectories = ['cache', 'spill', 'package-cache']

/** Everything about the files outside that a command could change. */
function snapshot(): Map<string, string> {
  const seen = new Map<string, string>()
  const walk = (file: string): void => {
    const stat = fs.lstatSync(file, { throwIfNoEntry: false })
    if (stat === undefined) return
    const content = stat.isFile() ? createHash('sha256').update(fs.readFileSync(file)).digest('hex') : ''
    const time = stat.isFile() ? stat.mtimeMs : 0
    seen.set(file, [stat.mode, stat.uid, stat.gid, stat.isFile() ? stat.nlink : 0, time, content].join())
    if (stat.isDirectory())
      for (const entry of fs.readdirSync(file)) if (!ownDirectories.includes(entry)) walk(path.join(file, entry))
  }
  for (const root of ['out', 'house']) walk(at(root))
  return seen
}

function difference(before: Map<string, string>, after: Map<string, string>): string[] {
  return [...new Set([...before.keys(), ...after.keys()])].filter((file) => before.get(file) !== after.get(file))
}

async function servers() {
  const tmp = fs.mkdtempSync('/tmp/dsh-escape-')
  const open: net.Server[] = []
  const listen = (where: net.ListenOptions) =>
    new Promise<net.Server>((resolve) => {
      const server = net
        .createServer((socket) => socket.end('ESCAPED\n').on('error', () => {}))
        .listen(where, () => resolve(server))
      open.push(server)
    })
  const udp = dgram.createSocket('udp4')
  udp.on('message', (_, from) => udp.send('ESCAPED', from.port))
  await new Promise<void>((resolve) => udp.bind(0, '127.0.0.1', resolve))
  fs.mkdirSync(at('run'), { recursive: true })
  await listen({ path: at('run/s') })
  await listen({ path: path.join(tmp, 's') })
  await listen({ path: `\0dsh-escape-${process.pid}` })
  const tcp = await listen({ port: 0, host: '127.0.0.1' })
  return {
    env: {
      SOCKET: at('run/s'),
      TMP_SOCKET: path.join(tmp, 's'),
      ABSTRACT: `dsh-escape-${process.pid}`,
      PORT: String((tcp.address() as net.AddressInfo).port),
      UDP_PORT: String(udp.address().port),
    },
    close: () => {
      udp.close()
      for (const server of open) server.close()
      fs.rmSync(tmp, { recursive: true, force: true })
    },
  }
}

async function main(): Promise<void> {
  reset()
  process.chdir(at('w'))
  const sentinel = spawn('sleep', ['600'], { stdio: 'ignore', detached: true })
  const { env, close } = await servers()
  const ctx = new Context()
  ctx.provide('dshHomePath', (...parts: string[]) => at('house', ...parts))
  await ctx.plugin(subprocess)
  await ctx.plugin(sandboxLocal, sandboxLocal.Config.parse({ rungs: rung === 'none' ? [] : [rung] }))
  await ctx.plugin(
    sandboxPolicy,
    sandboxPolicy.Config.parse({
      mode: rung === 'none' ? 'danger-full-access' : 'workspace-write',
      workspaceRoot: at('w'),
    }),
  )
  await ctx.plugin(bashSandbox, bashSandbox.Config.parse({}))

  const outcomes: Outcome[] = []
  for (const attempt of attempts) {
    if (!attempt.name.startsWith('the planted runner')) reset()
    const standing = ctx.sandboxPolicy.resolve()
    const { protectedPaths = [], ...rest } = attempt.policy ?? {}
    const policy = {
      ...standing,
      ...(rung === 'none' ? {} : rest),
      protectedPaths: [...(standing.protectedPaths ?? []), ...protectedPaths.map((name) => at('w', name))],
    }
    const held = fs.openSync(at('out/file'), 'a')
    const before = snapshot()
    const spec = await ctx.shell.resolve({
      command: attempt.script,
      policy,
      timeoutMs: 10_000,
      env: {
        ...env,
        W: at('w'),
        OUT: at('out'),
        HOUSE: at('house'),
        HOST_PID: String(process.pid),
        SENTINEL: String(sentinel.pid),
        NODE: process.execPath,
      },
    })
    const result = await ctx.shell.run(spec)
    if (attempt.name.startsWith('a survivor')) await new Promise((resolve) => setTimeout(resolve, 600))
    const changed = difference(before, snapshot()).map((file) => path.relative(base, file))
    const said = result.stdout.text.split('\n').some((line) => line.startsWith('ESCAPED'))
    const ended = attempt.name === 'signal everything' && sentinel.exitCode === null && sentinel.signalCode !== null
    fs.closeSync(held)
    outcomes.push({
      name: attempt.name,
      escaped: said || changed.length > 0 || ended,
      changed,
      stdout: result.stdout.text.slice(0, 400),
      stderr: result.stderr.text.slice(0, 800),
      rung: result.sandbox?.rung,
      notCovered: result.sandbox?.notCovered ?? [],
    })
  }
  await ctx.fiber.dispose()
  close()
  sentinel.kill('SIGKILL')
  process.stdout.write(JSON.stringify(outcomes), () => process.exit(0))
}

void main()
