// Runs the program from dist/compiled.bin: its chunks as CommonJS, each with what V8 made of it when it was built.
// Node 20 compiles ES modules anew in every process, a third of the time of a short run; later ones cache by themselves.
const { closeSync, openSync, readSync } = require('node:fs')
const { createRequire } = require('node:module')
const { join } = require('node:path')
const vm = require('node:vm')

/** What the compiled code depends on besides its source. */
const engine = `${process.versions.v8} ${process.arch}`

/** Those that every task needs are one script, which V8 takes over in half the time of so many. */
const together = 'start.js'

/**
 * Gives a function that runs a chunk, or nothing when there is no compiled program for this engine.
 * `onScript` hears of every script as it is loaded. The function's `together` names the chunks of the one script, and its
 * `frame` gives a stack frame the name of its chunk.
 */
function openCompiled(dist, onScript, pack = join(dist, 'compiled.bin')) {
  const file = open(pack)
  if (file === undefined) return undefined
  const index = readIndex(file)
  if (index === undefined) {
    closeSync(file)
    return undefined
  }
  const outside = createRequire(join(dist, 'main.js'))
  const loaded = new Map()
  let started

  const run = (name, [at, size, cached]) => {
    const bytes = read(file, at, size + cached)
    const script = new vm.Script(bytes.latin1Slice(0, size), {
      // V8 keeps the name that it had when it was built: no path of the builder's.
      filename: `dsh:/${name}`,
      cachedData: cached === 0 ? undefined : bytes.subarray(size),
    })
    onScript?.(name, script)
    return script.runInThisContext()
  }
  const chunk = (name) => {
    if (Object.hasOwn(index.lines, name)) {
      started ??= run(together, index.chunks[together])
      return started[name]
    }
    const place = index.chunks[name]
    return place === undefined ? undefined : run(name, place)
  }
  const load = (name) => {
    const known = loaded.get(name)
    if (known !== undefined) return known.exports
    const body = chunk(name)
    if (body === undefined) return outside(name)
    const module = {
      exports: {},
      import: (specifier) => import(specifier),
      later: (name) => later(() => load(name)),
      frame: load.frame,
      get url() {
        return require('node:url').pathToFileURL(join(dist, name)).href
      },
    }
    loaded.set(name, module)
    body(module.exports, load, module)
    return module.exports
  }
  load.together = Object.keys(index.lines)
  load.frame = (text) => plainFrame(text, index.lines)
  return load
}

function open(path) {
  try {
    return openSync(path)
  } catch {
    return undefined
  }
}

/**
 * The file begins with the size of its index, which is JSON: the engine, where the source and the code of each script
 * lie, and on which line of the one script each of its chunks begins.
 */
function readIndex(file) {
  const index = JSON.parse(read(file, 8, Number(read(file, 0, 8).latin1Slice())).latin1Slice())
  return index.engine === engine ? index : undefined
}

function read(file, at, size) {
  const bytes = Buffer.allocUnsafeSlow(size)
  for (let done = 0; done < size; ) {
    const count = readSync(file, bytes, done, size - done, at + done)
    if (count === 0) throw new Error('dsh: dist/compiled.bin is cut short; run "npm run build" again')
    done += count
  }
  return bytes
}

/** A module that is loaded when it is first asked for something. */
function later(load) {
  return new Proxy({}, { get: (_, name) => (name === 'default' ? load() : load()[name]) })
}

/** A frame of a stack with the name of its chunk. */
function plainFrame(text, lines) {
  return text.replace(/\bstart\.js:(\d+)/, (whole, number) => {
    const line = Number(number)
    const found = Object.entries(lines).findLast(([, first]) => first <= line)
    return found === undefined ? whole : `${found[0]}:${line - found[1] + 1}`
  })
}

exports.engine = engine
exports.together = together
exports.openCompiled = openCompiled
