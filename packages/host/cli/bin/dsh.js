#!/usr/bin/env node
// CommonJS: an ES module at the start brings Node's loader along, and all of node:fs for one function of it.
const { existsSync } = require('node:fs')
const { join } = require('node:path')
const { openCompiled } = require('./compiled.js')

const dist = join(__dirname, '../dist')
const entry = join(dist, 'main.js')
const compiled = process.env.DSH_COMPILED === '0' ? undefined : openCompiled(dist)
if (compiled !== undefined) {
  compiled('main.js')
} else if (existsSync(entry)) {
  require('node:module').enableCompileCache?.()
  import(require('node:url').pathToFileURL(entry).href)
} else {
  process.stderr.write('dsh: not built yet; run "npm run build" in its checkout first\n')
  process.exitCode = 1
}
