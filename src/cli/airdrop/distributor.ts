import { privateKeyToAddress } from 'viem/accounts'
import { readDistributor } from '../../chains/evm/airdrop/distributor.js'
import { createChainRpc } from '../../chains/evm/chain.js'
import { readEnvironment } from '../../config/index.js'
import type { Distributor } from '../../db/airdrop/airdrops.js'
import { fromHex, toHex } from '../../registry/primitives/bytes.js'
import { configuredChain } from '../values.js'

/**
 * Reads a distributor's state from its chain and checks its tree. An operator other than the configured one is a
 * warning on stderr.
 * @param fromBlock first block to read claims from; unchanged when undefined
 * @throws Error with one sentence where the contract is no distributor or another tree's; ConfigError for an unknown
 *   chain; ChainUnavailableError
 */
export async function askDistributor(
  label: string,
  address: Buffer,
  merkleRoot: Buffer,
  fromBlock: number | undefined,
): Promise<Distributor> {
  const { airdropOperatorKey } = readEnvironment()
  const config = configuredChain(label)
  const rpc = createChainRpc(config)
  const state = await rpc.onOneNode((call) => readDistributor(call, toHex(address)))
  if (!state) throw new Error(`${toHex(address)} is no airdrop distributor on chain "${label}".`)
  if (state.merkleRoot !== toHex(merkleRoot))
    throw new Error(`The distributor ${toHex(address)} pays another tree (root ${state.merkleRoot}).`)
  const operator = airdropOperatorKey && privateKeyToAddress(airdropOperatorKey)
  if (operator && operator !== state.operator)
    console.error(
      `Note: AIRDROP_OPERATOR_PRIVATE_KEY is of ${operator}, but the distributor's operator is ${state.operator}: Solana accounts can not claim.`,
    )
  return {
    ...{ label, distributor: address, token: fromHex(state.token), endsAtS: state.endsAtS },
    ...{ fromBlock, startBlock: config.startBlock },
  }
}
