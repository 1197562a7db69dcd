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

export async function openBench({ agent }) {
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
    node: (...words) => measure([process.execPath, ...words], { cwd: workspace, env: environment(base) }),
    dsh: (...words) => measure([process.execPath, bin, ...words], { cwd: workspace, env: environment(base) }),
    /** Runs one task against a model that answers with `steps`; a home of its own unless one is given. */
    task: async (steps, { home = path.join(base, `home-${homes++}`), words = [] } = {}) => {
      const server = await startMockServer({ steps })
      try {
        const command =
          agent === undefined
            ? [process.execPath, bin, '--profile', 'headless', ...words, 'go']
            : agent.split(' ').map((word) => word.replaceAll('{prompt}', 'go').replaceAll('{base}', server.url))
        const run = await measure(command, {
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

function environment(home) {
  mkdirSync(home, { recursive: true })
  return { PATH: process.env.PATH, HOME: home, LANG: 'C.UTF-8', TMPDIR: os.tmpdir() }
}

/** Wall milliseconds, peak RSS in MB, output. Throws when the command fails. */
function measure(command, options) {
  return new Promise((resolve, reject) => {
    const started = performance.now()
    const child = spawn(command[0], command.slice(1), { ...options, stdio: ['ignore', 'pipe', 'pipe'] })
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
      if (code === 0) resolve({ wallMs, rssMb: rss, stdout, stderr })
      else reject(new Error(`${command.join(' ')}: exit ${code}\n${stderr}`))
    })
  })
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
