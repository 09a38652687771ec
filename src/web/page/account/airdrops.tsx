import { useState } from 'preact/hooks'
import { findChain } from '../lib/format.js'
import { CLUSTER_NAME_INPUT_ATTRIBUTES, canonicalName } from '../lib/names.js'
import { usePolled } from '../lib/net.js'
import type { Airdrop, AirdropClaim, AirdropClaims } from '../lib/types.js'
import { Badge, Card, CopyableAddress, LoadedContent, NameLabel } from '../parts/basics.js'
import { followPayment } from './followed.js'
import { ActionButton, chainNameWithGasToken, Form, type FormValues, Input } from './pieces.js'
import { type Account, useAccount } from './state.js'

const REASONS: Readonly<Record<string, string>> = {
  claimed: 'claimed',
  pending: 'being claimed',
  no_distributor: 'not open yet',
  ended: 'the airdrop has ended',
  private_wallet: 'shows a private wallet on chain',
  no_evm_wallet: 'needs a verified Ethereum wallet in your bundle',
  no_operator: 'this service cannot permit it',
}
/** Maximum number of open airdrops that are read at once, the newest first. */
const ASKED = 10

const readClaims = ({ send }: Account, community: string): Promise<AirdropClaims> =>
  send(`/v1/airdrop/claim/${encodeURIComponent(community)}`)

/** Claims of the wallet's cluster (bundle) from open airdrops. */
async function readOpen(account: Account): Promise<AirdropClaims[]> {
  const open = await account.send<Airdrop[]>('/v1/airdrops')
  const newest = open.slice(0, ASKED)
  const all = await Promise.all(newest.map(({ community }) => readClaims(account, community)))
  return all.filter(({ claims }) => claims.length > 0)
}

/** `/@airdrops`: the airdrops that the wallets of the signed-in wallet's cluster can claim. */
export function AirdropsPage() {
  const account = useAccount()
  const [turn, setTurn] = useState(0)
  const [found, setFound] = useState<AirdropClaims | null>(null)
  const { session, isTestnet } = account
  const open = usePolled<AirdropClaims[]>(`${session?.address} ${isTestnet} ${turn}`, () =>
    readOpen(account),
  )
  const look = async (typed: FormValues) => {
    setFound(null)
    setFound(await readClaims(account, canonicalName(typed('community'))))
    return false
  }
  const refresh = async () => {
    setTurn((n) => n + 1)
    if (found) setFound(await readClaims(account, found.community))
  }
  return (
    <>
      <Card title="Airdrops">
        <p class="soft">A community may give tokens to wallets of your bundle, on any chain.</p>
        <LoadedContent asked={open}>
          {(all) =>
            all.length === 0 ? (
              <p class="empty">No open airdrop gives your bundle anything.</p>
            ) : (
              all
                .filter(({ community }) => community !== found?.community)
                .map((one) => <Given key={one.community} found={one} refresh={refresh} />)
            )
          }
        </LoadedContent>
      </Card>
      <Card title="Another airdrop">
        <Form label="Look for an airdrop" work={look} submit="Look" isPlain>
          <Input label="Community" {...CLUSTER_NAME_INPUT_ATTRIBUTES} name="community" />
        </Form>
        {found?.claims.length === 0 && <p class="empty">It gives your bundle nothing.</p>}
        {found && found.claims.length > 0 && <Given found={found} refresh={refresh} />}
      </Card>
    </>
  )
}

/** The cluster's claims from one airdrop. */
function Given({ found, refresh }: { found: AirdropClaims; refresh: () => Promise<void> }) {
  const account = useAccount()
  return (
    <>
      <p>
        <NameLabel name={found.community} /> gives {found.total} base units in all,{' '}
        {found.totalUnclaimed} not claimed yet
        {found.endsAt && `, until ${found.endsAt.slice(0, 10)}`}.
      </p>
      <ul class="rows">
        {found.claims.map((claim) => (
          <li key={claim.address}>
            <CopyableAddress address={claim.address} />
            <strong>{claim.amount}</strong>
            {claim.transaction ? (
              <ActionButton work={() => take(account, found, claim, refresh)}>Claim</ActionButton>
            ) : (
              <Badge kind={claim.claimed ? 'good' : ''}>
                {REASONS[claim.reason ?? ''] ?? claim.reason}
              </Badge>
            )}
          </li>
        ))}
      </ul>
      <Assign community={found.community} />
    </>
  )
}

async function take(
  account: Account,
  { network, community }: AirdropClaims,
  claim: AirdropClaim,
  refresh: () => Promise<void>,
) {
  const chain = findChain(account.chains, network)
  if (!chain) throw new Error('This chain is not served here.')
  if (claim.sender && claim.sender !== account.session?.address)
    throw new Error(`The wallet ${claim.sender} has to claim it: sign in with that one.`)
  const text = `${claim.amount} base units go to ${claim.receiver ?? claim.address}. Your wallet pays the gas on ${chainNameWithGasToken(chain)}.`
  if (
    !(await account.confirmed({ title: `Claim the airdrop of ${community}?`, text, yes: 'Claim' }))
  )
    return
  await followPayment(account.pay(chain, claim.transaction!), {
    say: account.say,
    sent: 'Sent. It is claimed once the chain has confirmed it.',
    isDone: async () => {
      const now = await account.send<AirdropClaims>(`/v1/airdrop/claim/${community}`)
      return now.claims.some(({ address, claimed }) => address === claim.address && claimed)
    },
    done: async () => {
      await refresh()
      account.say('It is claimed.')
    },
  })
}

/** Form that registers a name below the community after a claim. */
function Assign({ community }: { community: string }) {
  const account = useAccount()
  const assign = async (typed: FormValues) => {
    const body = { community, name: typed('name') }
    const { name } = await account.send<{ name: string }>('/v1/bundles/assign', { body })
    await account.reload(`${name} is yours.`)
  }
  return (
    <Form label="A name after the claim" work={assign} submit="Get the name" isPlain>
      <Input
        label={`Your name below ${community}/`}
        hint="After a claim your bundle gets one name there"
        {...CLUSTER_NAME_INPUT_ATTRIBUTES}
        name="name"
      />
    </Form>
  )
}
