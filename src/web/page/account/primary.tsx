import { useState } from 'preact/hooks'
import { chainName } from '../lib/format.js'
import { usePolled } from '../lib/net.js'
import { serviceInfo } from '../lib/service.js'
import type { PrimaryNameTransactions } from '../lib/types.js'
import { Card, LoadedContent } from '../parts/basics.js'
import { Select } from './pieces.js'
import { type AccountState, useAccount, walletOfSession } from './state.js'
import { TransactionButton } from './transaction.js'

type PrimaryNameTransactionOfChain = PrimaryNameTransactions['chains'][number]

const PRIMARY_NAME_REASON_TEXTS: Readonly<
  Record<NonNullable<PrimaryNameTransactionOfChain['reason']>, string>
> = {
  not_in_ens: 'ENS has no such name: it allows fewer characters.',
  other_address: 'In ENS this name stands for another wallet, or for none that everybody may see.',
}

/**
 * Names that may become the wallet's primary name, as far as they were read: names of its cluster, the wallet's name
 * below each of them, and the cluster's names below communities.
 */
function primaryNameCandidates(account: AccountState): string[] {
  const wallet = walletOfSession(account)
  return account.owned.items.flatMap(({ name }) =>
    wallet && !name.includes('/') ? [name, `${name}/${wallet.name}`] : [name],
  )
}

/**
 * Form that makes a name the wallet's primary name in ENS (ENSIP-19). Shows nothing if no chain has a registrar for
 * primary names, or if the service resolves no names of the network in ENS. It is for EVM wallets with names only.
 */
export function PrimaryNameCard() {
  const account = useAccount()
  const { session, send, isTestnet } = account
  const [chosen, choose] = useState('')
  const names = primaryNameCandidates(account)
  const name = names.includes(chosen) ? chosen : (names[0] ?? '')
  const parent = isTestnet ? serviceInfo.ens.testnet : serviceInfo.ens.mainnet
  const isServed = Boolean(parent) && session?.type === 'evm'
  const read = () =>
    send<PrimaryNameTransactions>(
      `/v1/names/${encodeURIComponent(name)}/primary/${session?.address}`,
    )
  const state = usePolled(isServed && name ? name : null, read)
  if (!isServed || !name || state.data?.chains.length === 0) return null
  return (
    <Card title="Primary name">
      <p class="soft">Sites that read ENS show it in place of your address.</p>
      <Select
        label="Your name in ENS"
        name="primary"
        options={names.map((one) => [one, one])}
        chosen={name}
        onInput={(event) => choose(event.currentTarget.value)}
      />
      <LoadedContent state={state} lines={1}>
        {({ ensName, chains }) => (
          <ul class="rows">
            {chains.map(({ chainId, transaction, reason, current }) => (
              <li key={chainId}>
                <span>{chainText(account, chainId)}</span>
                {current && <span class="good">{current} is set.</span>}
                {transaction && current !== ensName && (
                  <TransactionButton
                    offer={{
                      key: `primary ${chainId} ${ensName}`,
                      chain: { chainId, isTestnet },
                      transactions: [transaction],
                      done: `${ensName} is your primary name now.`,
                      isGone: async (isExecuted) =>
                        isExecuted ||
                        (await read()).chains.some(
                          (one) => one.chainId === chainId && one.current === ensName,
                        ),
                      refresh: state.refresh,
                    }}
                  >
                    Set {ensName}
                  </TransactionButton>
                )}
                {reason && <span class="soft">{PRIMARY_NAME_REASON_TEXTS[reason]}</span>}
              </li>
            ))}
          </ul>
        )}
      </LoadedContent>
    </Card>
  )
}

function chainText({ chains }: AccountState, chainId: number): string {
  const known = chains.find((chain) => chain.chainId === chainId)
  return known ? chainName(known.network) : `Chain ${chainId}`
}
