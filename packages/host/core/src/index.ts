export { assertNever } from './assert-never.ts'
export { DshError, type DshErrorOptions, errorCode, errorText, isDshError } from './errors.ts'
export { deepFreeze, type JsonObject, type JsonValue, snapshotJson } from './json.ts'
export { cutUtf8End, cutUtf8Start, sliceCodePoints } from './text.ts'
