export { type BootedRows, bootRows, type RowSpec } from './boot-rows.ts'
export { fsContract } from './fs-contract.ts'
export { has, type Need } from './machine.ts'
export {
  call,
  chunksOf,
  lastToolText,
  type Reply,
  type ScriptedCall,
  type ScriptedModel,
  say,
  scriptedModel,
} from './scripted-model.ts'
export { atTestEnd, type FileSpec, tempWorkspace, type Workspace } from './workspace.ts'
