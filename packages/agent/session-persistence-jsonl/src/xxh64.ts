/**
 * XXH64 with seed 0, for the checksums of Zstandard frames: `fzstd` does not look at them. On 32-bit halves, since
 * big integers are ten times slower.
 */
export function xxh64Low(bytes: Uint8Array): number {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  const { length } = bytes
  let at = 0
  const hash = u64()
  if (length >= 32) {
    const lanes = [copy(P1), copy(P2), u64(), u64()] as [U64, U64, U64, U64]
    add(lanes[0], P2)
    subtract(lanes[3], P1)
    for (; at + 32 <= length; at += 32)
      for (let lane = 0; lane < 4; lane++) round(lanes[lane] as U64, read(view, at + lane * 8))
    for (const [lane, bits] of [1, 7, 12, 18].entries()) add(hash, rotated(lanes[lane] as U64, bits))
    for (const lane of lanes) {
      const mixed = u64()
      round(mixed, lane)
      xor(hash, mixed)
      multiply(hash, P1)
      add(hash, P4)
    }
  } else add(hash, P5)
  add(hash, { hi: 0, lo: length >>> 0 })
  for (; at + 8 <= length; at += 8) {
    const mixed = u64()
    round(mixed, read(view, at))
    xor(hash, mixed)
    rotate(hash, 27)
    multiply(hash, P1)
    add(hash, P4)
  }
  if (at + 4 <= length) {
    const word = { hi: 0, lo: view.getUint32(at, true) }
    multiply(word, P1)
    xor(hash, word)
    rotate(hash, 23)
    multiply(hash, P2)
    add(hash, P3)
    at += 4
  }
  for (; at < length; at++) {
    const byte = { hi: 0, lo: view.getUint8(at) }
    multiply(byte, P5)
    xor(hash, byte)
    rotate(hash, 11)
    multiply(hash, P1)
  }
  xorShift(hash, 33)
  multiply(hash, P2)
  xorShift(hash, 29)
  multiply(hash, P3)
  xorShift(hash, 32)
  return hash.lo >>> 0
}

interface U64 {
  hi: number
  lo: number
}

const P1: U64 = { hi: 0x9e3779b1, lo: 0x85ebca87 }
const P2: U64 = { hi: 0xc2b2ae3d, lo: 0x27d4eb4f }
const P3: U64 = { hi: 0x165667b1, lo: 0x9e3779f9 }
const P4: U64 = { hi: 0x85ebca77, lo: 0xc2b2ae63 }
const P5: U64 = { hi: 0x27d4eb2f, lo: 0x165667c5 }

function u64(): U64 {
  return { hi: 0, lo: 0 }
}

function copy({ hi, lo }: U64): U64 {
  return { hi, lo }
}

function read(view: DataView, at: number): U64 {
  return { hi: view.getUint32(at + 4, true), lo: view.getUint32(at, true) }
}

function add(a: U64, b: U64): void {
  const lo = (a.lo >>> 0) + (b.lo >>> 0)
  a.hi = (a.hi + b.hi + (lo > 0xffffffff ? 1 : 0)) | 0
  a.lo = lo | 0
}

function subtract(a: U64, b: U64): void {
  const lo = (a.lo >>> 0) - (b.lo >>> 0)
  a.hi = (a.hi - b.hi - (lo < 0 ? 1 : 0)) | 0
  a.lo = lo | 0
}

function xor(a: U64, b: U64): void {
  a.hi ^= b.hi
  a.lo ^= b.lo
}

function multiply(a: U64, b: U64): void {
  const [a0, a1] = [a.lo & 0xffff, a.lo >>> 16]
  const [b0, b1] = [b.lo & 0xffff, b.lo >>> 16]
  const low = a0 * b0
  const mid = a1 * b0 + (low >>> 16)
  const mid2 = a0 * b1 + (mid & 0xffff)
  const carry = a1 * b1 + Math.floor(mid / 0x10000) + Math.floor(mid2 / 0x10000)
  a.hi = (carry + Math.imul(a.hi, b.lo) + Math.imul(a.lo, b.hi)) | 0
  a.lo = ((mid2 & 0xffff) << 16) | (low & 0xffff)
}

/** 0 < bits < 32. */
function rotate(a: U64, bits: number): void {
  const { hi, lo } = a
  a.hi = (hi << bits) | (lo >>> (32 - bits))
  a.lo = (lo << bits) | (hi >>> (32 - bits))
}

function rotated(a: U64, bits: number): U64 {
  const turned = copy(a)
  rotate(turned, bits)
  return turned
}

function round(lane: U64, input: U64): void {
  const mixed = copy(input)
  multiply(mixed, P2)
  add(lane, mixed)
  rotate(lane, 31)
  multiply(lane, P1)
}

function xorShift(a: U64, bits: number): void {
  const { hi, lo } = a
  if (bits >= 32) a.lo = lo ^ (bits === 32 ? hi : hi >>> (bits - 32))
  else {
    a.lo = lo ^ ((lo >>> bits) | (hi << (32 - bits)))
    a.hi = hi ^ (hi >>> bits)
  }
}
