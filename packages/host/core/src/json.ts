import { DshError } from './errors.ts'

export type JsonValue = string | number | boolean | null | readonly JsonValue[] | JsonObject
export interface JsonObject {
  readonly [key: string]: JsonValue
}

type Slot = { target: Record<string, unknown> | unknown[]; key: string | number; value: unknown; close?: object }

/**
 * A frozen copy of `value`, or `NOT_JSON` when a JSON round trip would not give the same value back:
 * `undefined`, NaN, -0, functions, symbols, holes, cycles, class instances, accessors. Walks without recursion.
 */
export function snapshotJson<T>(value: T): T {
  const copy = copyShallow(value, 0)
  return (copy === tooDeep ? copyDeep(value) : copy) as T
}

const tooDeep = Symbol('too deep')
const shallow = 64

/** The same walk with recursion, several times as fast; a cycle or a deep tree goes to the one without. */
function copyShallow(node: unknown, depth: number): unknown {
  if (typeof node === 'string' || typeof node === 'boolean' || node === null) return node
  if (typeof node === 'number') {
    if (!Number.isFinite(node) || Object.is(node, -0)) throw notJson()
    return node
  }
  if (typeof node !== 'object') throw notJson()
  if (depth > shallow) return tooDeep
  return Array.isArray(node) ? copyArrayShallow(node, depth) : copyObjectShallow(node, depth)
}

function copyArrayShallow(node: readonly unknown[], depth: number): unknown {
  if (Reflect.ownKeys(node).length !== node.length + 1) throw notJson()
  const copy: unknown[] = []
  for (let i = 0; i < node.length; i++) {
    const child = copyShallow(plainValue(node, String(i)), depth + 1)
    if (child === tooDeep) return tooDeep
    copy.push(child)
  }
  return Object.freeze(copy)
}

function copyObjectShallow(node: object, depth: number): unknown {
  const prototype: unknown = Object.getPrototypeOf(node)
  if (prototype !== Object.prototype && prototype !== null) throw notJson()
  const copy: Record<string, unknown> = {}
  for (const key of Reflect.ownKeys(node)) {
    if (typeof key !== 'string') throw notJson()
    const child = copyShallow(plainValue(node, key), depth + 1)
    if (child === tooDeep) return tooDeep
    put(copy, key, child)
  }
  return Object.freeze(copy)
}

function copyDeep<T>(value: T): T {
  const holder: Record<string, unknown> = {}
  const work: Slot[] = [{ target: holder, key: 'value', value }]
  const open = new Set<object>()
  const made: object[] = []
  while (work.length > 0) {
    const slot = work.pop() as Slot
    if (slot.close !== undefined) {
      open.delete(slot.close)
      continue
    }
    const copied = copyNode(slot.value, open, work, made)
    put(slot.target, slot.key, copied)
  }
  for (let i = made.length - 1; i >= 0; i--) Object.freeze(made[i])
  return holder['value'] as T
}

function copyNode(node: unknown, open: Set<object>, work: Slot[], made: object[]): unknown {
  if (node === null || typeof node === 'string' || typeof node === 'boolean') return node
  if (typeof node === 'number') {
    if (!Number.isFinite(node) || Object.is(node, -0)) throw notJson()
    return node
  }
  if (typeof node !== 'object' || open.has(node)) throw notJson()
  open.add(node)
  work.push({ target: [], key: 0, value: undefined, close: node })
  const copy = Array.isArray(node) ? copyArray(node, work) : copyObject(node, work)
  made.push(copy)
  return copy
}

function copyArray(node: readonly unknown[], work: Slot[]): unknown[] {
  const copy: unknown[] = new Array(node.length)
  const keys = Reflect.ownKeys(node)
  if (keys.length !== node.length + 1) throw notJson()
  for (let i = node.length - 1; i >= 0; i--) work.push({ target: copy, key: i, value: plainValue(node, String(i)) })
  return copy
}

function copyObject(node: object, work: Slot[]): Record<string, unknown> {
  const prototype: unknown = Object.getPrototypeOf(node)
  if (prototype !== Object.prototype && prototype !== null) throw notJson()
  const copy: Record<string, unknown> = {}
  const keys = Reflect.ownKeys(node)
  const slots: Slot[] = []
  for (const key of keys) {
    if (typeof key !== 'string') throw notJson()
    put(copy, key, undefined)
    slots.push({ target: copy, key, value: plainValue(node, key) })
  }
  for (let i = slots.length - 1; i >= 0; i--) work.push(slots[i] as Slot)
  return copy
}

function plainValue(node: object, key: string): unknown {
  const slot = Object.getOwnPropertyDescriptor(node, key)
  if (slot === undefined || !('value' in slot) || !slot.enumerable) throw notJson()
  return slot.value
}

/** `__proto__` is an ordinary key of JSON; plain assignment would set the prototype. */
function put(target: Record<string, unknown> | unknown[], key: string | number, value: unknown): void {
  if (key === '__proto__')
    Object.defineProperty(target, key, { value, writable: true, enumerable: true, configurable: true })
  else (target as Record<string | number, unknown>)[key] = value
}

function notJson(): DshError {
  return new DshError('NOT_JSON', 'value is not losslessly JSON-serializable')
}

/** Freezes a tree of plain data in place. For trees this process built itself; foreign data goes through `snapshotJson`. */
export function deepFreeze<T>(value: T): T {
  const work: unknown[] = [value]
  while (work.length > 0) {
    const node = work.pop()
    if (typeof node !== 'object' || node === null || Object.isFrozen(node)) continue
    Object.freeze(node)
    for (const child of Object.values(node)) work.push(child)
  }
  return value
}
