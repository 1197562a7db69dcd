export { abiGaps, type LandlockGrants, landlockAbi, landlockArgv, landlockStatus } from './argv.ts'
export { findLauncher, type Launcher } from './launcher.ts'
