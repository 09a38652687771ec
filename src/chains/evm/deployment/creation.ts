import { concat, encodeDeployData, getContractAddress, type Hex } from 'viem'
import type { DesiredChainDeployment } from '../../../config/desired.js'
import { fallbackIfRefused } from '../../rpc/errors.js'
import type { RpcCall } from '../../rpc/nodes.js'
import {
  airdropDistributorBytecode,
  communityPaymentsAbi,
  communityPaymentsBytecode,
  hubAbi,
  hubBytecode,
  spokeAbi,
  spokeBytecode,
} from '../contracts/index.js'

/**
 * Arachnid's deterministic deployment proxy, at this address on most public chains. Its calldata is a salt and creation
 * code, which it deploys by CREATE2 (EIP-1014). The contract's address does not depend on the caller and is known
 * before the deployment.
 */
export const DEPLOYMENT_PROXY = '0x4e59b44847b379578588920ca78fbf26c0b4956c'

/** Deployment of a clusterd contract by the deterministic deployment proxy. */
interface ContractCreation {
  /** Creation code with constructor arguments. */
  code: Hex
  /** Address at which the proxy deploys the contract. */
  address: Hex
  /** Calldata of the proxy for the deployment. */
  data: Hex
}

/**
 * Calculates a contract's address, and the proxy's calldata.
 * @param code creation code with constructor arguments
 */
export const buildContractCreation = (salt: Hex, code: Hex): ContractCreation => {
  const address = getContractAddress({
    opcode: 'CREATE2',
    from: DEPLOYMENT_PROXY,
    salt,
    bytecode: code,
  })
  return { code, address: address.toLowerCase() as Hex, data: concat([salt, code]) }
}

/** A desired contract with its present or future address. */
export interface DesiredContract {
  what: 'hub' | 'spoke' | 'payments'
  /** Field of the chains file that holds the contract's address. */
  field: 'contract' | 'communityPayments'
  address: Hex
  creation: ContractCreation
}

/**
 * The contracts that a chain should have, hub or spoke first.
 * @param hubEid LayerZero's endpoint id of the hub's chain
 */
export function desiredContracts(
  desired: DesiredChainDeployment,
  hubEid: number,
): DesiredContract[] {
  const { role, contract, communityPayments, hasPayments, salt } = desired
  const app = buildContractCreation(
    salt,
    role === 'hub' ? hubCreationCode(desired) : spokeCreationCode(desired, hubEid),
  )
  const payments = buildContractCreation(salt, paymentsCreationCode(desired))
  const contracts: DesiredContract[] = [
    { what: role, field: 'contract', address: contract ?? app.address, creation: app },
    {
      what: 'payments',
      field: 'communityPayments',
      address: communityPayments ?? payments.address,
      creation: payments,
    },
  ]
  return hasPayments || communityPayments ? contracts : contracts.slice(0, 1)
}

type DeploymentFields<Keys extends keyof DesiredChainDeployment> = Pick<
  DesiredChainDeployment,
  Keys
>
type HubOrSpokeFields = DeploymentFields<'endpoint' | 'owner' | 'pauser' | 'minimumWei'>

/** Creation code of a hub, constructor arguments included. */
export const hubCreationCode = ({
  endpoint,
  owner,
  relayer,
  pauser,
  minimumWei,
  deliverLimitWei,
}: HubOrSpokeFields & DeploymentFields<'relayer' | 'deliverLimitWei'>): Hex =>
  encodeDeployData({
    abi: hubAbi,
    bytecode: hubBytecode,
    args: [endpoint, owner, relayer, pauser, minimumWei, deliverLimitWei],
  })

/**
 * Creation code of a spoke, constructor arguments included.
 * @param hubEid LayerZero's endpoint id of the hub's chain
 */
export const spokeCreationCode = (
  { endpoint, owner, pauser, minimumWei }: HubOrSpokeFields,
  hubEid: number,
): Hex =>
  encodeDeployData({
    abi: spokeAbi,
    bytecode: spokeBytecode,
    args: [endpoint, hubEid, owner, pauser, minimumWei],
  })

/** Creation code of a contract for community payments, constructor arguments included. */
export const paymentsCreationCode = ({
  owner,
  relayer,
  pauser,
  reclaimSeconds,
}: DeploymentFields<'owner' | 'relayer' | 'pauser' | 'reclaimSeconds'>): Hex =>
  encodeDeployData({
    abi: communityPaymentsAbi,
    bytecode: communityPaymentsBytecode,
    args: [owner, relayer, pauser, reclaimSeconds],
  })

/**
 * Deployment of an airdrop distributor. All distributors use the zero salt: their addresses differ by the constructor
 * arguments.
 * @param encoded constructor arguments in ABI form
 */
export const buildDistributorCreation = (encoded: Hex): ContractCreation =>
  buildContractCreation(`0x${'00'.repeat(32)}`, concat([airdropDistributorBytecode, encoded]))

/**
 * True if deployed code equals the code that clusterd's creation code returns. The creation code runs in an `eth_call`
 * on this chain, so the comparison includes immutables.
 */
export async function matchesContractCreation(
  ask: RpcCall,
  code: Hex,
  creation: ContractCreation,
): Promise<boolean> {
  return (
    code ===
    (await fallbackIfRefused(ask<Hex>('eth_call', [{ data: creation.code }, 'latest']), null))
  )
}
