#!/usr/bin/env node
import { existsSync } from 'node:fs'
import module from 'node:module'
import { openCompiled } from './compiled.js'

const entry = new URL('../dist/main.js', import.meta.url)
const compiled = process.env.DSH_COMPILED === '0' ? undefined : openCompiled(new URL('../dist/', import.meta.url))
if (compiled !== undefined) {
  compiled('main.js')
} else if (existsSync(entry)) {
  module.enableCompileCache?.()
  await import(entry)
} else {
  process.stderr.write('dsh: not built yet; run "npm run build" in its checkout first\n')
  process.exitCode = 1
}
