import { useState } from 'preact/hooks'
import { CLUSTER_NAME_RULES, nameOf } from '../lib/names.js'
import type { Claim, Claims } from '../lib/types.js'
import { Address, Badge, Card } from '../parts/basics.js'
import { onceSent } from './followed.js'
import { Action, chainText, Form, Input, type Typed } from './pieces.js'
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
/** `/@airdrops`: what communities give the wallets of the bundle. */
export function Airdrops() {
  const account = useAccount()
  const [found, setFound] = useState<Claims | null>(null)
  const read = (community: string) =>
    account.send<Claims>(`/v1/airdrop/claim/${encodeURIComponent(community)}`)
  const look = async (typed: Typed) => {
    setFound(null)
    setFound(await read(nameOf(typed('community'))))
    return false
  }
  const refresh = async () => setFound(await read(found!.community))
  return (
    <Card title="Airdrops">
      <p class="soft">A community may give tokens to wallets of your bundle, on any chain.</p>
      <Form label="Look for an airdrop" work={look} submit="Look">
        <Input label="Community" {...CLUSTER_NAME_RULES} name="community" />
      </Form>
      {found?.claims.length === 0 && <p class="empty">It gives your bundle nothing.</p>}
      {found && found.claims.length > 0 && (
        <>
          <p>
            {found.total} base units in all, {found.totalUnclaimed} not claimed yet
            {found.endsAt && `, until ${new Date(found.endsAt).toLocaleString()}`}.
          </p>
          <ul class="rows">
            {found.claims.map((claim) => (
              <li key={claim.address}>
                <Address address={claim.address} />
                <strong>{claim.amount}</strong>
                {claim.transaction ? (
                  <Action work={() => take(account, found, claim, refresh)}>Claim</Action>
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
      )}
    </Card>
  )
}

async function take(
  account: Account,
  { network, community }: Claims,
  claim: Claim,
  refresh: () => Promise<void>,
) {
  const chain = account.chains.find((one) => one.network === network)
  if (!chain) throw new Error('This chain is not served here.')
  if (claim.sender && claim.sender !== account.session?.address)
    throw new Error(`The wallet ${claim.sender} has to claim it: sign in with that one.`)
  const text = `${claim.amount} base units go to ${claim.receiver ?? claim.address}. Your wallet pays the gas on ${chainText(chain)}.`
  if (
    !(await account.confirmed({ title: `Claim the airdrop of ${community}?`, text, yes: 'Claim' }))
  )
    return
  await onceSent(account.pay(chain, claim.transaction!), {
    say: account.say,
    sent: 'Sent. It is claimed once the chain has confirmed it.',
    isDone: async () => {
      const now = await account.send<Claims>(`/v1/airdrop/claim/${community}`)
      return now.claims.some(({ address, claimed }) => address === claim.address && claimed)
    },
    done: async () => {
      await refresh()
      account.say('It is claimed.')
    },
  })
}

/** A name below the community, after a claim. */
function Assign({ community }: { community: string }) {
  const account = useAccount()
  const assign = async (typed: Typed) => {
    const body = { community, name: typed('name') }
    const { name } = await account.send<{ name: string }>('/v1/bundles/assign', { body })
    await account.reload(`${name} is yours.`)
  }
  return (
    <Form label="A name after the claim" work={assign} submit="Get the name" isPlain>
      <Input
        label={`Your name below ${community}/`}
        hint="After a claim your bundle gets one name there"
        {...CLUSTER_NAME_RULES}
        name="name"
      />
    </Form>
  )
}
