import { useState } from 'preact/hooks'
import { countText, findChain } from '../lib/format.js'
import { type Amount, Money } from '../lib/money.js'
import { CLUSTER_NAME_INPUT_ATTRIBUTES, canonicalName } from '../lib/names.js'
import { usePolled } from '../lib/net.js'
import type { Airdrop, AirdropClaims } from '../lib/types.js'
import { Badge, Card, CopyableAddress, LoadedContent, NameLabel } from '../parts/basics.js'
import { agreesToShowAddress } from './communities.js'
import { chainNameWithGasToken, Form, type FormValues, TextInput } from './pieces.js'
import { type AccountState, useAccount } from './state.js'
import { TransactionButton } from './transaction.js'

type ClaimReason = NonNullable<AirdropClaims['claims'][number]['reason']>
const CLAIM_REASON_TEXTS: Readonly<Record<ClaimReason, string>> = {
  claimed: 'claimed',
  pending: 'being claimed',
  no_distributor: 'not open yet',
  ended: 'the airdrop has ended',
  private_wallet: 'a claim shows a private wallet',
  no_evm_wallet: 'needs a verified Ethereum wallet in your bundle',
  chain_not_served: 'its chain is not served here',
  no_operator: 'this service cannot permit it',
}
/** The page reads the claims of at most this many open airdrops, the newest ones. */
const MAX_READ_AIRDROPS = 10

const readClaims = ({ send }: AccountState, community: string): Promise<AirdropClaims> =>
  send(`/v1/airdrop/claim/${encodeURIComponent(community)}`)

/** Claims of the wallet's cluster (bundle) from the newest open airdrops, without airdrops that give it nothing. */
async function readOpenClaims(account: AccountState): Promise<AirdropClaims[]> {
  const open = await account.send<Airdrop[]>('/v1/airdrops')
  const newest = open.slice(0, MAX_READ_AIRDROPS)
  const all = await Promise.all(newest.map(({ community }) => readClaims(account, community)))
  return all.filter(({ claims }) => claims.length > 0)
}

/** `/@airdrops`: what airdrops give to wallets of the signed-in wallet's cluster, with buttons that claim it. */
export function AirdropsPage() {
  const account = useAccount()
  const [searched, setSearched] = useState<string | null>(null)
  const open = usePolled('', () => readOpenClaims(account))
  const claims = usePolled(searched, () => readClaims(account, searched!))
  const look = async (typed: FormValues) => {
    setSearched(canonicalName(typed('community')))
    return false
  }
  return (
    <>
      <Card title="Airdrops">
        <p class="soft">A community may give tokens to wallets of your bundle, on any chain.</p>
        <LoadedContent state={open}>
          {(all) => {
            const others = all.filter(({ community }) => community !== searched)
            return all.length === 0 ? (
              <p class="empty">No open airdrop gives your bundle anything.</p>
            ) : (
              others.map((one) => (
                <AirdropClaimList key={one.community} airdrop={one} refresh={open.refresh} />
              ))
            )
          }}
        </LoadedContent>
      </Card>
      <Card title="Another airdrop">
        <Form label="Look for an airdrop" work={look} submit="Look" isPlain>
          <TextInput label="Community" {...CLUSTER_NAME_INPUT_ATTRIBUTES} name="community" />
        </Form>
        {searched && (
          <LoadedContent state={claims}>
            {(given) =>
              given.claims.length === 0 ? (
                <p class="empty">It gives your bundle nothing.</p>
              ) : (
                <AirdropClaimList airdrop={given} refresh={claims.refresh} />
              )
            }
          </LoadedContent>
        )}
      </Card>
    </>
  )
}

/** The cluster's claims from one airdrop. */
function AirdropClaimList({ airdrop, refresh }: { airdrop: AirdropClaims; refresh: () => void }) {
  const account = useAccount()
  const { community, network, token, endsAt, total, totalUnclaimed, claims } = airdrop
  const chain = findChain(account.chains, network)
  if (!token)
    return (
      <p>
        <NameLabel name={community} /> gives something to {countText(claims.length, 'wallet')} of
        your bundle. It is not open yet.
      </p>
    )
  const sum = (amount: string): Amount => ({ network, token, amount })
  const isGone = (claimed: string) => async () =>
    (await readClaims(account, community)).claims.some(
      (claim) => claim.address === claimed && claim.claimed,
    )
  return (
    <>
      <p>
        <NameLabel name={community} /> gives <Money {...sum(total)} /> in all,{' '}
        <Money {...sum(totalUnclaimed)} /> not claimed yet
        {endsAt && (
          <>
            , until <time>{endsAt.slice(0, 10)}</time>
          </>
        )}
        .
      </p>
      <ul class="rows">
        {claims.map(({ address, amount, receiver, sender, transaction, claimed, reason }) => (
          <li key={address}>
            <CopyableAddress address={address} />
            <strong>
              <Money {...sum(amount)} />
            </strong>
            {transaction && (!sender || sender === account.session?.address) ? (
              <TransactionButton
                offer={{
                  key: `airdrop ${community} ${address}`,
                  chain,
                  transactions: [transaction],
                  ask: {
                    title: `Claim the airdrop of ${community}?`,
                    text: `It goes to ${receiver ?? address}. Your wallet pays the gas${chain ? ` on ${chainNameWithGasToken(chain)}` : ''}.`,
                    yes: 'Claim',
                  },
                  done: 'It is claimed.',
                  isGone: isGone(address),
                  refresh,
                }}
              >
                Claim
              </TransactionButton>
            ) : (
              <Badge kind={claimed ? 'good' : ''}>
                {transaction
                  ? 'sign in with this wallet to claim'
                  : reason && (CLAIM_REASON_TEXTS[reason] ?? reason)}
              </Badge>
            )}
          </li>
        ))}
      </ul>
      {claims.some(({ claimed }) => claimed) && <AssignNameForm community={community} />}
    </>
  )
}

/** Form that gives the cluster a name below the community, shown once a wallet of the cluster has claimed. */
function AssignNameForm({ community }: { community: string }) {
  const account = useAccount()
  const assign = async (typed: FormValues) => {
    if (!(await agreesToShowAddress(account))) return false
    const body = { community, name: typed('name') }
    const { name } = await account.send<{ name: string }>('/v1/bundles/assign', { body })
    return account.reload(`${name} is yours.`)
  }
  return (
    <Form label="A name after the claim" work={assign} submit="Get the name" isPlain>
      <TextInput
        label={`Your name below ${community}/`}
        hint="After a claim your bundle gets one name there"
        {...CLUSTER_NAME_INPUT_ATTRIBUTES}
        name="name"
      />
    </Form>
  )
}
