import sharp from 'sharp'

/** A picture of many colours: bands with noise. */
export function photo(width: number, height: number, channels: 3 | 4 = 3) {
  const data = Buffer.alloc(width * height * channels)
  let seed = 7
  for (let at = 0; at < data.length; at++) {
    seed = (seed * 1103515245 + 12345) & 0x7fffffff
    data[at] = channels === 4 && at % 4 === 3 ? 128 : (seed >> 16) & 0xff
  }
  return sharp(data, { raw: { width, height, channels } })
}

/** A drawing of two colours. */
export function drawing(width: number, height: number) {
  return sharp({ create: { width, height, channels: 3, background: '#204080' } })
}
