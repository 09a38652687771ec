import { encodeFunctionData, type Hex, parseAbi } from 'viem'
import { toCoinType } from 'viem/ens'
import type { ChainsFile } from '../config/chainsFile.js'
import type { FullName } from '../registry/primitives/name.js'
import type { Network } from '../registry/primitives/network.js'
import { ensNameOf } from './name.js'
import { type EnsRecordLookups, ETH_COIN_TYPE, resolveAddressRecord } from './records.js'

/** Function of ENS's reverse registrars, on Ethereum and on other chains, that sets the primary name of its caller. */
const reverseRegistrarAbi = parseAbi(['function setName(string name)'])

/** Calldata by which the sender of a transaction sets its primary name. */
export const encodeSetPrimaryNameCalldata = (ensName: string): Hex =>
  encodeFunctionData({ abi: reverseRegistrarAbi, args: [ensName] })

interface PrimaryNameTransactions {
  /** The name in ENS; null for a name that ENS does not normalize (ENSIP-15). */
  ensName: string | null
  /** Results, one for each chain with a reverse registrar. */
  chains: {
    chainId: number
    registrar: Hex
    /** Call that the address sends on the chain; `value` in wei. */
    transaction: { to: Hex; data: Hex; value: bigint } | null
    /**
     * Why the chain has no transaction: ENS can't normalize the name, or the name does not resolve to the address. In
     * both cases clients of ENS would not show the name. Null where there is a transaction.
     */
    reason: 'not_in_ens' | 'other_address' | null
  }[]
}

/** Builds the unsigned transactions by which an address makes a name of the registry its primary name (ENSIP-19). */
export type PrimaryNameTransactionsBuilder = ReturnType<typeof createPrimaryNameTransactionsBuilder>

/**
 * Creates a function that returns, for each chain with a reverse registrar, the unsigned transaction by which the address
 * sets its reverse record to the name. A chain on which the name does not resolve to the address (by the
 * chain's coin type, ENSIP-11) has no transaction. The result is null on a network without an ENS parent name.
 */
export function createPrimaryNameTransactionsBuilder(parents: ChainsFile['ens']) {
  return async (
    request: { name: FullName; address: string; network: Network },
    lookups: Pick<EnsRecordLookups, 'walletOf' | 'verifiedOf'>,
  ): Promise<PrimaryNameTransactions | null> => {
    const { name, address, network } = request
    const parentSettings = parents[network]
    if (!parentSettings) return null
    const ensName = ensNameOf(name, parentSettings.parent)
    const registrars = Object.entries(parentSettings.reverseRegistrars ?? {})
    const chains = registrars.map(
      async ([id, registrar]): Promise<PrimaryNameTransactions['chains'][number]> => {
        const chainId = Number(id)
        if (ensName === null) return { chainId, registrar, transaction: null, reason: 'not_in_ens' }
        // on the chain of ENS itself, also on a testnet, clients compare the address record of coin type 60
        const coinType = chainId === parentSettings.chainId ? ETH_COIN_TYPE : toCoinType(chainId)
        if ((await resolveAddressRecord(name, coinType, lookups)) !== address)
          return { chainId, registrar, transaction: null, reason: 'other_address' }
        const transaction = {
          to: registrar,
          data: encodeSetPrimaryNameCalldata(ensName),
          value: 0n,
        }
        return { chainId, registrar, transaction, reason: null }
      },
    )
    return { ensName, chains: await Promise.all(chains) }
  }
}
