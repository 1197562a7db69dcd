import { isAlias, isMap, isScalar, isSeq, LineCounter, type Node, parseDocument, type ScalarTag } from 'yaml'
import { ComposeError } from './errors.ts'
import { Expression, type ExpressionKind } from './expression.ts'

/** Where the parts of a parsed document stand: the line of a collection and of each of its keys or items. */
export interface Lines {
  of(value: object, key?: string | number): number | undefined
}

export interface ParsedYaml {
  /** Plain data, deeply frozen; expressions are `Expression`. `undefined` for an empty document. */
  readonly value: unknown
  readonly lines: Lines
}

/** A document this large is a mistake or an alias bomb. */
const MAX_NODES = 200_000

const TAGS: Record<string, ExpressionKind> = { 'tag:yaml.org,2002:js': 'js', '!env': 'env', '!home': 'home' }

const customTags: ScalarTag[] = Object.keys(TAGS).map((tag) => ({ tag, resolve: (text: string) => text }))

/** Parses YAML's core schema plus `!!js`, `!env` and `!home`. Throws `ComposeError` at a syntax fault. */
export function parseYaml(source: string, file: string): ParsedYaml {
  // Some editors begin a file with a byte order mark; the parser would count it as indentation.
  const text = source.replace(/^\uFEFF/, '')
  const counter = new LineCounter()
  const document = parseDocument(text, { customTags, lineCounter: counter, prettyErrors: false, stringKeys: true })
  const lineAt = (offset: number | undefined) => (offset === undefined ? undefined : counter.linePos(offset).line)
  // Only the first: what follows a syntax fault is mostly its echo.
  const fault = document.errors[0] ?? document.warnings[0]
  if (fault !== undefined) {
    const second = fault.code === 'MULTIPLE_DOCS'
    const reason = second ? 'a second document begins here; the file must hold one' : fault.message.split('\n')[0]
    const message = `invalid YAML: ${reason}`
    throw new ComposeError([{ file, line: lineAt(fault.pos[0]) ?? 1, message }])
  }

  const lines = new WeakMap<object, { line: number | undefined; keys: Map<string | number, number | undefined> }>()
  const open = new Set<Node>()
  let nodes = 0
  const fail = (node: Node, message: string): never => {
    throw new ComposeError([{ file, line: lineAt(node.range?.[0]) ?? 1, message: `invalid YAML: ${message}` }])
  }

  function convert(node: Node | null | undefined): unknown {
    if (node === null || node === undefined) return null
    if (++nodes > MAX_NODES) fail(node, `more than ${MAX_NODES} values`)
    if (isAlias(node)) {
      const target = node.resolve(document)
      if (target === undefined) return fail(node, `unknown alias *${node.source}`)
      return convert(target)
    }
    if (isScalar(node)) return scalar(node)
    if (open.has(node)) return fail(node, 'an alias contains itself')
    open.add(node)
    const value = isMap(node) ? mapping(node) : isSeq(node) ? sequence(node) : fail(node, 'unexpected node')
    open.delete(node)
    return value
  }

  function scalar(node: Node & { value: unknown; tag?: string }): unknown {
    const kind = node.tag === undefined ? undefined : TAGS[node.tag]
    if (kind === undefined) return node.value
    const source = String(node.value ?? '').trim()
    const tag = kind === 'js' ? '!!js' : `!${kind}`
    if (source === '') return fail(node, `${tag} needs a value`)
    return new Expression(kind, source, `${file}:${lineAt(node.range?.[0]) ?? 1}`)
  }

  function mapping(node: Node & { items: { key: unknown; value: unknown }[] }): object {
    const value: Record<string, unknown> = {}
    const keys = new Map<string | number, number | undefined>()
    for (const pair of node.items) {
      const key = pair.key as Node
      const name = String(isScalar(key) ? key.value : key)
      keys.set(name, lineAt(key.range?.[0]))
      Object.defineProperty(value, name, {
        value: convert(pair.value as Node | null),
        enumerable: true,
        writable: true,
        configurable: true,
      })
    }
    lines.set(value, { line: lineAt(node.range?.[0]), keys })
    return Object.freeze(value)
  }

  function sequence(node: Node & { items: unknown[] }): unknown[] {
    const keys = new Map<string | number, number | undefined>()
    const value = node.items.map((item, i) => {
      keys.set(i, lineAt((item as Node | null)?.range?.[0]))
      return convert(item as Node | null)
    })
    lines.set(value, { line: lineAt(node.range?.[0]), keys })
    return Object.freeze(value) as unknown[]
  }

  const value = document.contents === null ? undefined : convert(document.contents)
  return {
    value,
    lines: {
      of: (target, key) => {
        const entry = lines.get(target)
        return key === undefined ? entry?.line : (entry?.keys.get(key) ?? entry?.line)
      },
    },
  }
}
