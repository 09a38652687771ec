/**
 * The contracts' ABIs, bytecode and addresses as a library, also for browsers: `import { hubAbi } from
 * 'clusterd/contracts'`. ABIs are typed (`as const`) for viem, wagmi and ethers. Bytecode is creation code.
 */
export {
  airdropDistributorAbi,
  airdropDistributorBytecode,
} from '../../contracts/evm/artifacts/AirdropDistributor.js'
export {
  communityPaymentsAbi,
  communityPaymentsBytecode,
} from '../../contracts/evm/artifacts/CommunityPayments.js'
export { ensResolverAbi, ensResolverBytecode } from '../../contracts/evm/artifacts/EnsResolver.js'
export { hubAbi, hubBytecode } from '../../contracts/evm/artifacts/Hub.js'
export { spokeAbi, spokeBytecode } from '../../contracts/evm/artifacts/Spoke.js'
export { addresses, type ContractName, type DeployedAddresses } from './addresses.js'
export { type LayerZeroEnd, layerZero } from './layerZero.js'

/**
 * URL of the file with the registrar's interface (Anchor IDL). In Node: `JSON.parse(readFileSync(registrarIdl,
 * 'utf8'))`.
 */
export const registrarIdl: URL = new URL(
  '../../contracts/solana/registrar/idl.json',
  import.meta.url,
)
/**
 * URL of the registrar's program file (ELF), for a deployment on Solana. `registrar.so.sha256` beside it has its hash.
 */
export const registrarProgram: URL = new URL(
  '../../contracts/solana/registrar/registrar.so',
  import.meta.url,
)
