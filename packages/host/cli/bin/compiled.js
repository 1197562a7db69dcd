// Runs the program from dist/compiled.bin: its chunks as CommonJS, each with what V8 made of it when it was built.
// Node 20 compiles ES modules anew in every process, a third of the time of a short run; later ones cache by themselves.
const { closeSync, openSync, readSync } = require('node:fs')
const { createRequire } = require('node:module')
const { join } = require('node:path')
const vm = require('node:vm')

/** What the compiled code depends on besides its source. */
const engine = `${process.versions.v8} ${process.arch}`

/**
 * Gives a function that runs a chunk, or nothing when there is no compiled program for this engine.
 * `onScript` hears of every chunk as it is loaded.
 */
function openCompiled(dist, onScript, pack = join(dist, 'compiled.bin')) {
  const file = open(pack)
  if (file === undefined) return undefined
  const chunks = readIndex(file)
  if (chunks === undefined) {
    closeSync(file)
    return undefined
  }
  const outside = createRequire(join(dist, 'main.js'))
  const loaded = new Map()
  const load = (name) => {
    const known = loaded.get(name)
    if (known !== undefined) return known.exports
    const chunk = chunks[name]
    if (chunk === undefined) return outside(name)
    const [at, size, cached] = chunk
    const bytes = read(file, at, size + cached)
    const filename = join(dist, name)
    const script = new vm.Script(bytes.latin1Slice(0, size), {
      filename,
      cachedData: cached === 0 ? undefined : bytes.subarray(size),
    })
    const module = {
      exports: {},
      import: (specifier) => import(specifier),
      get url() {
        return require('node:url').pathToFileURL(filename).href
      },
    }
    loaded.set(name, module)
    onScript?.(name, script)
    script.runInThisContext()(module.exports, load, module)
    return module.exports
  }
  return load
}

function open(path) {
  try {
    return openSync(path)
  } catch {
    return undefined
  }
}

/** The file begins with the size of its index, which is JSON: the engine, and where each chunk's source and code lie. */
function readIndex(file) {
  const { engine: made, chunks } = JSON.parse(read(file, 8, Number(read(file, 0, 8).latin1Slice())).latin1Slice())
  return made === engine ? chunks : undefined
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

exports.engine = engine
exports.openCompiled = openCompiled
