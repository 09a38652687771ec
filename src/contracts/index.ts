/**
 * The contracts as a library: `import { hubAbi } from 'clusterd/contracts'`. Interfaces with functions, events and
 * errors are typed (`as const`), for viem, wagmi and ethers alike; bytecode is that of creation. It loads nothing else,
 * and runs in browsers.
 */
export {
  airdropDistributorAbi,
  airdropDistributorBytecode,
} from '../../contracts/evm/artifacts/AirdropDistributor.js'
export { communityPaymentsAbi, communityPaymentsBytecode } from '../../contracts/evm/artifacts/CommunityPayments.js'
export { ensResolverAbi, ensResolverBytecode } from '../../contracts/evm/artifacts/EnsResolver.js'
export { hubAbi, hubBytecode } from '../../contracts/evm/artifacts/Hub.js'
export { spokeAbi, spokeBytecode } from '../../contracts/evm/artifacts/Spoke.js'
export { addresses, type ContractName, type DeployedAddresses } from './addresses.js'
export { type LayerZeroEnd, layerZero } from './layerZero.js'

/**
 * Files of the registrar program on Solana: its interface (Anchor IDL) and the program that is deployed, whose SHA-256
 * stands beside it. In Node: `JSON.parse(readFileSync(registrarIdl, 'utf8'))`.
 */
export const registrarIdl: URL = new URL('../../contracts/solana/registrar/idl.json', import.meta.url)
export const registrarProgram: URL = new URL('../../contracts/solana/registrar/registrar.so', import.meta.url)
