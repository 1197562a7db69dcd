import { resetCapabilitiesCache, setCapabilities } from '@mariozechner/pi-tui'
import { afterEach, expect, it } from 'vitest'
import { fit } from '../src/cards/fit.ts'
import { createPictures } from '../src/cards/pictures.ts'
import { createTheme } from '../src/theme.ts'

const ref = { attachmentId: 'sha256:1', mediaType: 'image/png', bytes: 70, width: 40, height: 20, name: 'dot.png' }
const png = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
  'base64',
)
const theme = createTheme({ NO_COLOR: '1' })

afterEach(() => resetCapabilitiesCache())

it('names a picture where the terminal cannot draw it', () => {
  setCapabilities({ images: null, trueColor: false, hyperlinks: false })
  const pictures = createPictures(
    theme,
    async () => png,
    () => {},
  )
  expect(pictures.render(ref, 80)).toEqual(['dot.png: image/png, 40×20'])
})

it('draws it once its bytes are there, and its line is left whole', async () => {
  setCapabilities({ images: 'kitty', trueColor: true, hyperlinks: true })
  const ready = new Promise<void>((resolve) => {
    const pictures = createPictures(
      theme,
      async () => png,
      () => {
        const lines = fit(pictures.render(ref, 80), 80)
        expect(lines.join('')).toContain('\x1b_G')
        expect(lines.at(-1)?.length).toBeGreaterThan(80)
        resolve()
      },
    )
    expect(pictures.render(ref, 80)[0]).toContain('dot.png')
  })
  await ready
})
