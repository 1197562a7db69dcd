export { type BehaviourName, behaviours } from './behaviours.ts'
export { type MockRequest, type MockServer, type MockServerOptions, type MockStep, startMockServer } from './server.ts'
export { parseSteps } from './steps-file.ts'
export { type MockAnswer, type MockCall, type MockUsage, sseEvent, wireAnswer, wireChunk } from './wire.ts'
