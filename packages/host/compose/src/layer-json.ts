import { Expression, type ExpressionKind, isExpression } from './expression.ts'
import type { Layer } from './layer.ts'

/** Stands for the layer's file, which is known only where the layer is used. */
const FILE = '@@file@@'

/** A layer as JSON text, for a build that spares its readers the YAML parser. Read it with `FILE` as its file. */
export function layerToJson(layer: Layer): string {
  return JSON.stringify(encode(layer))
}

export const compiledFile = FILE

/** The way back. */
export function layerFromJson(text: string, file: string): Layer {
  const placed = text.replaceAll(FILE, JSON.stringify(file).slice(1, -1))
  return JSON.parse(placed, (_key, value: unknown) => {
    if (!isEncoded(value)) return value
    return new Expression(value.$expression, value.source, value.at)
  }) as Layer
}

function encode(value: unknown): unknown {
  if (isExpression(value)) return { $expression: value.kind, source: value.source, at: value.at }
  if (Array.isArray(value)) return value.map(encode)
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, encode(item)]))
}

function isEncoded(value: unknown): value is { $expression: ExpressionKind; source: string; at?: string } {
  return typeof value === 'object' && value !== null && '$expression' in value
}
