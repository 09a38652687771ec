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

/** File with the registrar's interface (Anchor IDL). In Node: `JSON.parse(readFileSync(registrarIdl, 'utf8'))`. */
export const registrarIdl: URL = new URL(
  '../../contracts/solana/registrar/idl.json',
  import.meta.url,
)
/** File with the registrar program as deployed on Solana. The program's SHA-256 is in a file in the same folder. */
export const registrarProgram: URL = new URL(
  '../../contracts/solana/registrar/registrar.so',
  import.meta.url,
)
