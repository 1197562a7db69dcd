import * as nodeFs from 'node:fs'
import { join } from 'node:path'
import { DshError } from '@dsh/core'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { drawing, photo } from '../../attachment-local/tests/images.ts'
import { type Bench, bench } from './bench.ts'

let table: Bench
const open = async (attachments: Record<string, unknown> = {}) => {
  table = await bench({
    rows: [
      { module: await import('@dsh/attachment-local'), config: attachments },
      { id: 'llm', module: fakeLlm },
    ],
  })
}
/** Knows one model with image input and one without. */
const fakeLlm = {
  name: 'fake-llm',
  apply: async (ctx: { provide(name: string, value: unknown): void }) => {
    ctx.provide('llm', {
      resolveModel: async (provider: string, model: string) => {
        if (model === 'unknown') throw new Error('no such model')
        return {
          provider,
          id: model,
          name: model,
          ...(model === 'seeing' ? { inputModalities: ['text', 'image'] } : {}),
        }
      },
    })
  },
}
const agentOn = (model: string) => {
  const agent = table.newAgent()
  Object.assign(agent.session, { requestHeader: { config: { provider: 'p', model } } })
  return agent
}
const read = (file_path: string, model = 'seeing') => table.text('read_image', { file_path }, { agent: agentOn(model) })
const at = (name: string) => join(table.root, name)
beforeEach(() => open())
afterEach(() => table.dispose())

describe('read_image', () => {
  it('gives the envelope and the image, and observes the file', async () => {
    const bytes = await drawing(30, 20).png().toBuffer()
    nodeFs.writeFileSync(at('a.png'), bytes)
    nodeFs.symlinkSync('a.png', at('l.png'))
    const agent = agentOn('seeing')
    const result = await table.call('read_image', { file_path: 'l.png' }, { agent })
    expect(result.isError).toBe(false)
    expect(result.content).toEqual([
      {
        type: 'text',
        text: `<path>${at('a.png')}</path>\n<type>image</type>\n<content>\nimage/png image, 30x20 px, ${bytes.length} bytes\n</content>`,
      },
      { type: 'image', attachment: expect.objectContaining({ mediaType: 'image/png', name: 'l.png' }) },
    ])
    expect(await table.text('write', { file_path: 'a.png', content: 'x' }, { agent })).toContain('Updated file')
  })

  it('says how coordinates map after a downscale', async () => {
    nodeFs.writeFileSync(at('big.jpg'), await photo(3000, 1500).jpeg().toBuffer())
    nodeFs.writeFileSync(at('odd.jpg'), await photo(4000, 3).jpeg().toBuffer())
    expect(await read('big.jpg')).toMatch(
      /^.*\n.*\n<content>\nimage\/jpeg image, 2048x1024 px, \d+ bytes \(downscaled from 3000x1500 px; multiply coordinates by 1\.46 to locate features in the original file\)\n<\/content>\[image\]$/,
    )
    expect(await read('odd.jpg')).toMatch(/multiply x coordinates by 1\.95 and y coordinates by 1\.50 to locate/)
  })

  it('refuses a text model before it looks at anything', async () => {
    expect(await read('missing.png', 'blind')).toBe(
      'Error: cannot read "missing.png" as an image: model "blind" does not declare image input; switch to an image-capable model to read images',
    )
    expect(await read('missing.png', 'unknown')).toBe(
      'Error: cannot read "missing.png" as an image: the current model route could not be resolved',
    )
  })

  it('tells the formats apart by signature where there is no extension', async () => {
    nodeFs.writeFileSync(at('object'), await photo(9, 9).webp().toBuffer())
    nodeFs.writeFileSync(at('text'), 'hello')
    expect(await read('object')).toContain('image/webp image, 9x9 px')
    expect(await read('text')).toBe(
      `Error: cannot read "${at('text')}": the file content is not a supported image format; read_image accepts PNG/JPEG/WebP/GIF`,
    )
  })

  it('names each thing that is wrong with a file', async () => {
    nodeFs.writeFileSync(at('a.jpg'), await drawing(9, 9).png().toBuffer())
    nodeFs.writeFileSync(at('cut.png'), (await photo(99, 99).png().toBuffer()).subarray(0, 4000))
    nodeFs.writeFileSync(at('none.png'), '')
    nodeFs.mkdirSync(at('d.png'))
    expect(await read('a.bmp')).toBe(
      'Error: cannot read "a.bmp": the .bmp extension does not declare a supported image format; read_image accepts PNG/JPEG/WebP/GIF files, including extension-less files in those formats',
    )
    expect(await read('a.jpg')).toBe(
      `Error: cannot read "${at('a.jpg')}": the .jpg extension declares image/jpeg, but the bytes use a different image format; rename the file to match its actual format if it is PNG/JPEG/WebP/GIF, or convert it to one of those formats`,
    )
    for (const name of ['cut.png', 'none.png'])
      expect(await read(name)).toBe(
        `Error: cannot read "${at(name)}": the bytes do not decode as a supported PNG/JPEG/WebP/GIF image; the file may be truncated or corrupt`,
      )
    expect((await read('d.png')).split('\n')[0]).toBe(`Error: cannot read "${at('d.png')}": not a regular file`)
    expect((await read('gone.PNG')).split('\n')[0]).toBe(`Error: cannot read "${at('gone.PNG')}": not found`)
    expect(await read(' ')).toBe('Error: file_path must be a non-empty string')
  })

  it('names each limit', async () => {
    await table.dispose()
    await open({
      maxImageBytes: 5000,
      maxImagePixels: 900,
      maxImageDimension: 40,
      acceptedTypes: ['image/png', 'image/jpeg'],
    })
    nodeFs.writeFileSync(at('wide.png'), await drawing(41, 2).png().toBuffer())
    nodeFs.writeFileSync(at('many.png'), await drawing(31, 31).png().toBuffer())
    nodeFs.writeFileSync(at('fat.png'), Buffer.alloc(5001))
    nodeFs.writeFileSync(at('w'), await photo(9, 9).webp().toBuffer())
    const smaller = 'downscale the image and read the smaller copy'
    expect(await read('wide.png')).toBe(
      `Error: cannot read "${at('wide.png')}": at least one image side exceeds the 40px limit; ${smaller}`,
    )
    expect(await read('many.png')).toBe(
      `Error: cannot read "${at('many.png')}": the image exceeds the 900-pixel decoded-size limit; ${smaller}`,
    )
    expect(await read('fat.png')).toBe(`Error: cannot read "${at('fat.png')}": 5001 bytes exceeds the 5000-byte limit`)
    expect(await read('a.webp')).toBe(
      'Error: cannot read "a.webp": image/webp images are not accepted by this deployment',
    )
    expect(await read('w')).toBe(
      `Error: cannot read "${at('w')}": image/webp images are not accepted by this deployment`,
    )
  })

  it.each([
    [
      'IMAGE_TYPE_MISMATCH',
      '',
      'the file signature claims image/png, but the bytes decode as a different image format; the file may be corrupt',
    ],
    [
      'ATTACHMENT_WRITE_FAILED',
      'The 16-bit PNG could not be converted to the normalized 8-bit sRGB form.',
      'the 16-bit PNG could not be converted to the normalized 8-bit sRGB form; convert it to an 8-bit PNG/JPEG/WebP and retry',
    ],
    [
      'IMAGE_TOO_LARGE',
      '',
      "the image cannot be stored within the deployment's byte limits; downscale the image and read the smaller copy",
    ],
    [
      'IMAGE_LIBRARY_MISSING',
      '',
      'the image must be converted to fit 2048px and 4194304 bytes, and the optional package sharp is not installed here; downscale the image and read the smaller copy',
    ],
  ])('says what to do when the store answers %s', async (code, message, text) => {
    nodeFs.writeFileSync(at('p'), await drawing(9, 9).png().toBuffer())
    const store = table.ctx.get('attachments')
    if (store === undefined) throw new Error('no store')
    vi.spyOn(store, 'saveImage').mockRejectedValue(new DshError(code, message))
    expect(await read('p')).toBe(`Error: cannot read "${at('p')}": ${text}`)
  })

  it('is offered only while a store is mounted', async () => {
    expect(table.ctx.tools.get('read_image')).toBeDefined()
    await table.dispose()
    table = await bench()
    expect(table.ctx.tools.get('read_image')).toBeUndefined()
  })
})
