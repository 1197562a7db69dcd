export { canonicalBundle, canonicalName } from './alias.ts'
export { type Composition, compose, type Skip } from './apply.ts'
export { checkComposition } from './check.ts'
export { dumpJson, dumpYaml, patchedBy, yamlText } from './dump.ts'
export { ComposeError, type Problem, problemText } from './errors.ts'
export { explain, unknownRowText } from './explain.ts'
export { Expression, isExpression } from './expression.ts'
export {
  type Layer,
  type LayerKind,
  type LayerSource,
  type Patch,
  type RowDraft,
  readLayer,
  readPatches,
  readRows,
} from './layer.ts'
export { compiledFile, layerFromJson, layerToJson } from './layer-json.ts'
export { isMapping, kindOf, type Mapping } from './mapping.ts'
export { merge } from './merge.ts'
export { nearest, suggestion } from './nearest.ts'
export { type RowNode, rowData, type Say, walkRows } from './row.ts'
export { readSettings } from './settings-layer.ts'
export { type Lines, parseYaml } from './yaml-dialect.ts'
