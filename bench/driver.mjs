// One agent process at a time, against a model on loopback.
import { spawn } from 'node:child_process'
import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { pathToFileURL } from 'node:url'
import { build } from 'esbuild'
import { bin, root } from '../scripts/ready.mjs'

/** `pass` names variables of this process that every measured one gets as well. */
export async function openBench({ agent, pass }) {
  const passed = Object.fromEntries(pass.map((name) => [name, process.env[name]]))
  const environment = (home) => ({ ...plainEnvironment(home), ...passed })
  const base = realpathSync(mkdtempSync(path.join(os.tmpdir(), 'dsh-bench-')))
  const workspace = path.join(base, 'ws')
  mkdirSync(workspace)
  for (let at = 0; at < 64; at++)
    writeFileSync(path.join(workspace, `small-${at}.txt`), 'a small file\nof three\nlines\n')
  const { startMockServer } = await mockServer(base)
  let homes = 0

  return {
    base,
    workspace,
    close: async () => rmSync(base, { recursive: true, force: true, maxRetries: 3 }),
    node: (words, options) =>
      measure([process.execPath, ...words], { cwd: workspace, env: environment(base), ...options }),
    dsh: (words, options) =>
      measure([process.execPath, bin, ...words], { cwd: workspace, env: environment(base), ...options }),
    /** Runs one task against a model that answers with `steps`; a home of its own unless one is given. */
    task: async (steps, { home = path.join(base, `home-${homes++}`), words = [], cpu = false } = {}) => {
      const server = await startMockServer({ steps })
      try {
        const command =
          agent === undefined
            ? [process.execPath, bin, '--profile', 'headless', ...words, 'go']
            : agent.split(' ').map((word) => word.replaceAll('{prompt}', 'go').replaceAll('{base}', server.url))
        const run = await measure(command, {
          cpu,
          cwd: workspace,
          env: { ...environment(home), DSH_HOME: home, DEEPSEEK_BASE_URL: server.url, DEEPSEEK_API_KEY: 'bench' },
        })
        const requests = server.requests.filter((request) => !request.side)
        return { ...run, requests, logBytes: sizeOf(path.join(home, 'sessions')) }
      } finally {
        await server.close()
      }
    },
  }
}

/** The development server is TypeScript; bundled here once per run. */
async function mockServer(base) {
  const outfile = path.join(base, 'mock-server.mjs')
  await build({
    entryPoints: [path.join(root, 'packages/testing/llm-mock-server/src/index.ts')],
    bundle: true,
    format: 'esm',
    platform: 'node',
    target: 'node20',
    outfile,
    logLevel: 'error',
  })
  return await import(pathToFileURL(outfile).href)
}

function plainEnvironment(home) {
  mkdirSync(home, { recursive: true })
  return { PATH: process.env.PATH, HOME: home, LANG: 'C.UTF-8', TMPDIR: os.tmpdir() }
}

/** The shell knows what its children took of the processor, to the millisecond; Node does not. */
const timed = ['bash', '-c', '"$@"; code=$?; times >&3; exit $code', 'timed']

/** Wall milliseconds, peak RSS in MB, output; with `cpu` what the processor worked, and no RSS. Throws when it fails. */
function measure(command, { cpu = false, ...options }) {
  return new Promise((resolve, reject) => {
    const started = performance.now()
    const [file, ...words] = cpu ? [...timed, ...command] : command
    const child = spawn(file, words, { ...options, stdio: ['ignore', 'pipe', 'pipe', 'pipe'] })
    let times = ''
    child.stdio[3].on('data', (data) => {
      times += data
    })
    let stdout = ''
    let stderr = ''
    let rss = 0
    child.stdout.on('data', (data) => {
      stdout += data
    })
    child.stderr.on('data', (data) => {
      stderr += data
    })
    const sampler = setInterval(() => {
      rss = Math.max(rss, peakRss(child.pid))
    }, 10)
    child.once('error', reject)
    child.once('close', (code) => {
      const wallMs = performance.now() - started
      clearInterval(sampler)
      if (code === 0) resolve({ wallMs, rssMb: rss, cpuMs: cpuMs(times), stdout, stderr })
      else reject(new Error(`${command.join(' ')}: exit ${code}\n${stderr}`))
    })
  })
}

/** Two lines, the shell's own and its children's, each like `0m0.061s 0m0.012s`: user and system time. */
function cpuMs(times) {
  const children = times.trim().split('\n').at(-1)
  return [...children.matchAll(/(\d+)m([\d.,]+)s/g)].reduce(
    (sum, [, minutes, seconds]) => sum + 60_000 * minutes + 1000 * Number(seconds.replace(',', '.')),
    0,
  )
}

/** The kernel keeps the peak, so a late sample misses only what was allocated after it. Linux only. */
function peakRss(pid) {
  try {
    return Number(/VmHWM:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1] ?? 0) / 1024
  } catch {
    return 0
  }
}

function sizeOf(dir) {
  try {
    return readdirSync(dir, { recursive: true })
      .map((name) => statSync(path.join(dir, name)))
      .reduce((sum, stat) => sum + (stat.isFile() ? stat.size : 0), 0)
  } catch {
    return 0
  }
}
