#!/usr/bin/env node
// Rebuilds the launchers in bin/ from src/landlock-run.c, with whatever compilers are here:
//
//   node packages/sandbox/landlock-run/build.mjs [--out DIR] [--only x64|arm64]
//
// x64 needs gcc on x64 (or x86_64-linux-gnu-gcc), arm64 needs aarch64-linux-gnu-gcc (or gcc on arm64). Prints one line per
// architecture; exits 1 if none could be built. src/checksums.ts is rewritten when bin/ is.
import { execFileSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'

const here = fileURLToPath(new URL('.', import.meta.url))
const { values } = parseArgs({ options: { out: { type: 'string' }, only: { type: 'string' } } })
const out = values.out ?? join(here, 'bin')
mkdirSync(out, { recursive: true })

const flags = [
  '-Os -std=c11 -Wall -Wextra -Werror -ffreestanding -nostdlib -static -fno-pie -no-pie',
  '-fno-stack-protector -fno-asynchronous-unwind-tables -fno-unwind-tables -fno-tree-loop-distribute-patterns',
  '-s -Wl,--build-id=none -Wl,-z,noexecstack -Wl,-z,noseparate-code',
].flatMap((line) => line.split(' '))
const machines = {
  x64: { compiler: 'x86_64-linux-gnu-gcc', extra: [] },
  // No calls into libgcc for atomics, and no pointer signing, which old cores only ignore.
  arm64: { compiler: 'aarch64-linux-gnu-gcc', extra: ['-mno-outline-atomics', '-mbranch-protection=none'] },
}

let built = 0
for (const [machine, { compiler, extra }] of Object.entries(machines)) {
  if (values.only !== undefined && values.only !== machine) continue
  const program = process.arch === machine && !has(compiler) ? 'gcc' : compiler
  if (!has(program)) {
    console.log(`${machine}: skipped, no ${program}`)
    continue
  }
  const file = join(out, `landlock-run-linux-${machine}`)
  execFileSync(program, [...flags, ...extra, '-o', file, join(here, 'src/landlock-run.c')], { stdio: 'inherit' })
  console.log(`${machine}: ${file}, ${readFileSync(file).length} bytes, ${version(program)}`)
  built++
}
if (built === 0) process.exit(1)
if (values.out === undefined) writeChecksums()

function has(program) {
  try {
    execFileSync(program, ['--version'], { stdio: 'ignore' })
    return true
  } catch {
    return false
  }
}

function version(program) {
  return execFileSync(program, ['--version'], { encoding: 'utf8' }).split('\n')[0]
}

function writeChecksums() {
  const lines = Object.keys(machines).map((machine) => {
    const bytes = readFileSync(join(out, `landlock-run-linux-${machine}`))
    return `  ${machine}: '${createHash('sha256').update(bytes).digest('hex')}',`
  })
  writeFileSync(
    join(here, 'src/checksums.ts'),
    `/** SHA-256 of the launchers in bin/; written by build.mjs. */\nexport const checksums: Readonly<Record<string, string>> = {\n${lines.join('\n')}\n}\n`,
  )
}
