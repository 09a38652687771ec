import { privateKeyToAddress } from 'viem/accounts'
import { readDistributor } from '../../chains/evm/airdrop/distributor.js'
import { createChainRpc } from '../../chains/evm/chain.js'
import { type ChainConfig, ConfigError, readChains, readEnvironment } from '../../config/index.js'
import type { Distributor } from '../../db/airdrop/airdrops.js'
import { fromHex, toHex } from '../../registry/primitives/bytes.js'

/**
 * Asks a distributor on its chain what it pays, and for which tree. An operator it doesn't know is a warning on stderr.
 * @param fromBlock where its claims are looked for first; undefined: as it was
 * @throws Error with one sentence where it is no distributor or another tree's; ConfigError for a chain that isn't configured;
 *   ChainUnavailableError
 */
export async function askDistributor(
  label: string,
  address: Buffer,
  merkleRoot: Buffer,
  fromBlock: number | undefined,
): Promise<Distributor> {
  const { chainsFile, airdropOperatorKey } = readEnvironment()
  const config = chainOf(chainsFile, label)
  const rpc = createChainRpc(config)
  const facts = await rpc.onOneNode((call) => readDistributor(call, toHex(address)))
  if (!facts) throw new Error(`${toHex(address)} is no airdrop distributor on chain "${label}".`)
  if (facts.merkleRoot !== toHex(merkleRoot))
    throw new Error(`The distributor ${toHex(address)} pays another tree (root ${facts.merkleRoot}).`)
  const operator = airdropOperatorKey && privateKeyToAddress(airdropOperatorKey)
  if (operator && operator !== facts.operator)
    console.error(
      `Note: AIRDROP_OPERATOR_PRIVATE_KEY is of ${operator}, but the distributor's operator is ${facts.operator}: Solana accounts can not claim.`,
    )
  return {
    ...{ label, distributor: address, token: fromHex(facts.token), endsAtS: facts.endsAtS },
    ...{ fromBlock, startBlock: config.startBlock },
  }
}

function chainOf(chainsFile: string, label: string): ChainConfig {
  const config = readChains(chainsFile).chains.find((chain) => chain.label === label)
  if (!config) throw new ConfigError(`The chains file ${chainsFile} has no chain "${label}".`)
  return config
}
