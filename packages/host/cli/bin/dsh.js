#!/usr/bin/env node
import { existsSync } from 'node:fs'
import module from 'node:module'

const entry = new URL('../dist/main.js', import.meta.url)
if (existsSync(entry)) {
  module.enableCompileCache?.()
  await import(entry)
} else {
  process.stderr.write('dsh: not built yet; run "npm run build" in its checkout first\n')
  process.exitCode = 1
}
