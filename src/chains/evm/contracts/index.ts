export { endpointAbi } from './endpoint-abi.js'
export { bidEmitterAbi, bidEmitterBytecode, bidEmitterRuntimeBytecode } from './generated/bid-emitter.js'
export { hubAbi, hubBytecode } from './generated/hub.js'
