import { basename, extname } from 'node:path'
import type { AttachmentStore, ImageType } from '@dsh/attachment-local'
import { isDshError } from '@dsh/core'
import type { AttachmentRef } from '@dsh/llm'
import type { ToolDefinition, ToolExecution } from '@dsh/tools'
import { requirePath } from './arguments.ts'
import { type FileToolDeps, sessionCwd } from './deps.ts'
import { withHint } from './error.ts'
import { statRegular } from './read.ts'
import { envelope } from './read-render.ts'
import { readImageDescription } from './texts.ts'

export interface ReadImageArgs {
  readonly file_path: string
}
export interface ReadImageValue {
  readonly path: string
  readonly attachment: AttachmentRef
}

/** The model that a result goes to next; undefined = its route cannot be told. */
export type ResolveRoute = (
  exec: ToolExecution,
) => Promise<{ readonly model: string; readonly inputModalities?: readonly string[] } | undefined>

export interface ReadImageDeps extends FileToolDeps {
  readonly attachments: AttachmentStore
  readonly route: ResolveRoute
}

const typeByExtension: { readonly [extension: string]: ImageType } = {
  '.png': 'image/png',
  '.jpg': 'image/jpeg',
  '.jpeg': 'image/jpeg',
  '.webp': 'image/webp',
  '.gif': 'image/gif',
}

export function readImageTool(deps: ReadImageDeps): ToolDefinition<ReadImageArgs, ReadImageValue> {
  return {
    name: 'read_image',
    description: readImageDescription,
    parameters: {
      type: 'object',
      properties: {
        file_path: { type: 'string', description: 'Path of the image, absolute or relative to the working directory.' },
      },
      required: ['file_path'],
    },
    output: {
      schema: {
        type: 'object',
        properties: { path: { type: 'string' }, attachment: { type: 'object' } },
        required: ['path', 'attachment'],
      },
      render: (_args, { path, attachment }) => [
        { type: 'text', text: envelope(path, 'image', describe(attachment)) },
        { type: 'image', attachment },
      ],
    },
    isConcurrencySafe: () => true,
    async execute(args, exec) {
      requirePath(args.file_path)
      const extension = extname(args.file_path).toLowerCase()
      const declared = declaredType(args.file_path, extension)
      if (declared !== undefined) requireAccepted(deps.attachments, declared, args.file_path)
      await requireImageInput(args.file_path, exec, deps.route)
      return await readImage(args, extension, declared, exec, deps)
    },
  }
}

function declaredType(path: string, extension: string): ImageType | undefined {
  if (extension === '') return undefined
  const type = Object.hasOwn(typeByExtension, extension) ? typeByExtension[extension] : undefined
  if (type !== undefined) return type
  throw new Error(
    `cannot read "${path}": the ${extension} extension does not declare a supported image format; read_image accepts PNG/JPEG/WebP/GIF files, including extension-less files in those formats`,
  )
}

function requireAccepted(attachments: AttachmentStore, type: ImageType, path: string): void {
  if (!attachments.accepts(type))
    throw new Error(`cannot read "${path}": ${type} images are not accepted by this deployment`)
}

/** Before any I/O: a text model must not get image blocks into its history. */
async function requireImageInput(path: string, exec: ToolExecution, route: ResolveRoute): Promise<void> {
  const model = await route(exec)
  if (model === undefined)
    throw new Error(`cannot read "${path}" as an image: the current model route could not be resolved`)
  if (!model.inputModalities?.includes('image'))
    throw new Error(
      `cannot read "${path}" as an image: model "${model.model}" does not declare image input; switch to an image-capable model to read images`,
    )
}

async function readImage(
  args: ReadImageArgs,
  extension: string,
  declared: ImageType | undefined,
  exec: ToolExecution,
  deps: ReadImageDeps,
): Promise<ReadImageValue> {
  const { fs, attachments } = deps
  try {
    const target = await fs.resolve(args.file_path, { cwd: sessionCwd(exec), signal: exec.signal, verb: 'read' })
    const shown = target.displayPath
    const info = await statRegular(target, args.file_path, exec, deps)
    const { maxImageBytes, maxMessageImageBytes } = attachments.limits
    const bytes = await fs.readBytes(target, exec.signal, Math.min(maxImageBytes, maxMessageImageBytes))
    const type = declared ?? sniffed(bytes, shown, attachments)
    const attachment = await attachments
      .saveImage({ bytes, declaredType: type, name: basename(shown) }, exec.signal)
      .catch((error: unknown) => {
        throw storeProblem(error, shown, type, declared === undefined ? undefined : extension, attachments)
      })
    deps.observed(target, { kind: 'present', version: info.version }, exec)
    return { path: fs.processPath(target), attachment }
  } catch (error) {
    throw withHint(error, deps.hints)
  }
}

function sniffed(bytes: Uint8Array, shown: string, attachments: AttachmentStore): ImageType {
  const type = attachments.sniff(bytes)
  if (type === undefined)
    throw new Error(
      `cannot read "${shown}": the file content is not a supported image format; read_image accepts PNG/JPEG/WebP/GIF`,
    )
  requireAccepted(attachments, type, shown)
  return type
}

/** What the store refused, as the next step for the model. `extension` is set where it declared the type. */
function storeProblem(
  error: unknown,
  shown: string,
  type: ImageType,
  extension: string | undefined,
  attachments: AttachmentStore,
): unknown {
  if (!isDshError(error)) return error
  const { maxImageDimension, maxImagePixels } = attachments.limits
  const smaller = 'downscale the image and read the smaller copy'
  const fail = (text: string) => new Error(`cannot read "${shown}": ${text}`, { cause: error })
  switch (error.code) {
    case 'IMAGE_TYPE_MISMATCH':
      return extension === undefined
        ? fail(
            `the file signature claims ${type}, but the bytes decode as a different image format; the file may be corrupt`,
          )
        : fail(
            `the ${extension} extension declares ${type}, but the bytes use a different image format; rename the file to match its actual format if it is PNG/JPEG/WebP/GIF, or convert it to one of those formats`,
          )
    case 'INVALID_IMAGE':
      return fail(
        'the bytes do not decode as a supported PNG/JPEG/WebP/GIF image; the file may be truncated or corrupt',
      )
    case 'IMAGE_DIMENSION_TOO_LARGE':
      return fail(`at least one image side exceeds the ${maxImageDimension}px limit; ${smaller}`)
    case 'IMAGE_TOO_MANY_PIXELS':
      return fail(`the image exceeds the ${maxImagePixels}-pixel decoded-size limit; ${smaller}`)
    case 'IMAGE_TOO_LARGE':
      return fail(`the image cannot be stored within the deployment's byte limits; ${smaller}`)
    case 'IMAGE_LIBRARY_MISSING': {
      const { normalizedImageMaxDimension: side, normalizedImageMaxBytes: size } = attachments.limits
      return fail(
        `the image must be converted to fit ${side}px and ${size} bytes, and the optional package sharp is not installed here; ${smaller}`,
      )
    }
    case 'ATTACHMENT_WRITE_FAILED':
      return error.message.includes('16-bit PNG')
        ? fail(
            'the 16-bit PNG could not be converted to the normalized 8-bit sRGB form; convert it to an 8-bit PNG/JPEG/WebP and retry',
          )
        : new Error(error.message, { cause: error })
    default:
      return new Error(error.message, { cause: error })
  }
}

function describe({ mediaType, width, height, bytes, originalDimensions }: AttachmentRef): string {
  const size = `${mediaType} image, ${width}x${height} px, ${bytes} bytes`
  if (originalDimensions === undefined) return size
  const ratio = (from: number, to: number) => (from / to).toFixed(2)
  const x = ratio(originalDimensions.width, width)
  const y = ratio(originalDimensions.height, height)
  const how = x === y ? `multiply coordinates by ${x}` : `multiply x coordinates by ${x} and y coordinates by ${y}`
  const from = `${originalDimensions.width}x${originalDimensions.height} px`
  return `${size} (downscaled from ${from}; ${how} to locate features in the original file)`
}
