import { useState } from 'preact/hooks'
import { useLocation } from 'preact-iso/router'
import { chainName, findChain, priceText, shortText } from '../lib/format.js'
import { findCommunity } from '../lib/lists.js'
import {
  CLUSTER_NAME_INPUT_ATTRIBUTES,
  canonicalName,
  NO_AUTOCORRECT_INPUT_ATTRIBUTES,
} from '../lib/names.js'
import { usePolled } from '../lib/net.js'
import type {
  Cluster,
  Community,
  CommunityPayout,
  CommunityPrice,
  CommunityRegistration,
} from '../lib/types.js'
import { Card, LoadedContent } from '../parts/basics.js'
import { earlierPaymentWarning, followPayment } from './followed.js'
import {
  ActionButton,
  chainNameWithGasToken,
  FollowedPaymentList,
  Form,
  type FormValues,
  Input,
} from './pieces.js'
import { RulesForm } from './rules.js'
import { type Account, namesOfCluster, payableChains, useAccount } from './state.js'

/** `/@communities`: registers names below communities, and sets up the wallet's own names as communities. */
export function CommunitiesPage() {
  const account = useAccount()
  const { query } = useLocation()
  const join = (typed: FormValues) =>
    joinCommunity(account, canonicalName(typed('community')), typed('member'))
  return (
    <>
      <Card title="Get a name in a community">
        <Form label="Register a name below a community" work={join} submit="Get the name">
          <Input
            label="Community"
            {...CLUSTER_NAME_INPUT_ATTRIBUTES}
            name="community"
            defaultValue={query.community}
          />
          <Input
            label="Your name there"
            hint="Free, or paid on the chain that the community names"
            {...CLUSTER_NAME_INPUT_ATTRIBUTES}
            name="member"
            defaultValue={query.community ? query.name : ''}
          />
        </Form>
      </Card>
      <FollowedPaymentList />
      <OwnNames />
    </>
  )
}

/** Number of the wallet's own names that are shown as communities at once: each name sends a request. */
const SHOWN = 5

function OwnNames() {
  const account = useAccount()
  const [asked, setAsked] = useState<{ name: string; id: string } | null>(null)
  const names = namesOfCluster(account)
  // on another network, or after the wallet or the name has changed its cluster, the name may belong to another cluster
  const other = asked && asked.id === account.cluster?.id ? [asked.name] : []
  const show = async (typed: FormValues) => {
    const name = canonicalName(typed('own'))
    const { id } = await account.send<Cluster>(`/v1/clusters/name/${encodeURIComponent(name)}`)
    if (id !== account.cluster?.id) throw new Error(`${name} is no name of your cluster.`)
    setAsked({ name, id })
  }
  return (
    <>
      {names.length > SHOWN && (
        <Card title="Your names as communities">
          <Form label="Show a name as a community" work={show} submit="Show" isPlain>
            <Input
              label="Another of your names"
              hint={`Below are the first ${SHOWN}`}
              {...CLUSTER_NAME_INPUT_ATTRIBUTES}
              name="own"
            />
          </Form>
        </Card>
      )}
      {[...new Set([...other, ...names.slice(0, SHOWN)])].map((name) => (
        <Own key={name} name={name} />
      ))}
    </>
  )
}

async function joinCommunity(
  account: Account,
  community: string,
  member: string,
): Promise<unknown> {
  const found = await findCommunity(community, account.send)
  if (!found) throw new Error(`${community} is no community: no names are registered below it.`)
  const { prices } = found
  const chains = payableChains(account)
  // without a price that the wallet can pay, the service's error explains why
  const price = prices.find(({ network }) => findChain(chains, network))
  const body = { name: member, ...(price && { network: price.network }) }
  const made = await account.send<CommunityRegistration>(
    `/v1/names/community/${community}/register`,
    {
      body,
    },
  )
  if (made.transactionInfo && made.price) return payName(account, made, made.price)
  return account.reload(`${made.clusterName} is yours.`)
}

async function payName(
  account: Account,
  made: CommunityRegistration,
  price: CommunityPrice,
): Promise<unknown> {
  const { clusterName, transactionInfo: info } = made
  const chain = findChain(payableChains(account), price.network)
  if (!chain || !info || account.session?.type !== info.type)
    throw new Error('This community takes no payment from your wallet.')
  const text = () =>
    `It costs ${priceText(price, chain)} and gas, paid on ${chainNameWithGasToken(chain)} to ${shortText(price.recipient)}.${earlierPaymentWarning(account, clusterName)} What buys nothing can be taken back.`
  if (!(await account.confirmed({ title: `Register ${clusterName}?`, text, yes: 'Pay' })))
    return false
  const payment =
    info.type === 'evm'
      ? account.pay(chain, info.transaction, info.approvalReset, info.approval)
      : account.pay(chain, info.transaction.data)
  return account.follow(clusterName, payment)
}

/**
 * A name of the wallet's cluster as a community: its rules and, once it is a community, a form that registers names for
 * others, and its earnings.
 */
function Own({ name }: { name: string }) {
  const account = useAccount()
  const asked = usePolled(`${account.isTestnet} ${name}`, () => findCommunity(name, account.send))
  const [set, setSet] = useState<Community | null>(null)
  const give = async (typed: FormValues) => {
    const body = { name: typed('name'), walletAddress: typed('wallet') }
    const made = await account.send<CommunityRegistration>(`/v1/names/community/${name}/register`, {
      body,
    })
    await account.reload(`${made.clusterName} belongs to ${shortText(made.owner)} now.`)
  }
  return (
    <Card title={`${name}/ as a community`}>
      <LoadedContent asked={set ? { data: set } : asked}>
        {(rules) => (
          <div class="columns">
            <RulesForm name={name} rules={rules} onSet={setSet} />
            {rules && (
              <div>
                <Form
                  label={`Register for somebody below ${name}`}
                  work={give}
                  submit="Give the name"
                  isPlain
                >
                  <Input
                    label="Name for somebody else"
                    {...CLUSTER_NAME_INPUT_ATTRIBUTES}
                    name="name"
                  />
                  <Input label="Wallet" {...NO_AUTOCORRECT_INPUT_ATTRIBUTES} name="wallet" />
                </Form>
                <Payouts name={name} />
              </div>
            )}
          </div>
        )}
      </LoadedContent>
    </Card>
  )
}

/** Earnings of a community that its recipients have not taken yet. */
function Payouts({ name }: { name: string }) {
  const account = useAccount()
  const key = `${name} ${account.isTestnet} ${account.followed.length}`
  const asked = usePolled<{ payouts: CommunityPayout[] }>(key, () =>
    account.send(`/v1/communities/${name}/payouts`),
  )
  const payouts = asked.data?.payouts ?? []
  return (
    <ul class="rows">
      {payouts.map((payout) => {
        const chain = findChain(account.chains, payout.network)
        const isMine = payout.recipient === account.session?.address
        const sent = 'Sent. The money is yours once the chain has confirmed it.'
        const take = () =>
          followPayment(account.pay(chain!, payout.transaction!), { say: account.say, sent })
        return (
          <li key={`${payout.network} ${payout.recipient} ${payout.token}`}>
            <span>
              Earned: {priceText(payout, chain)} on {chainName(payout.network)}
            </span>
            {isMine && chain && payout.transaction && (
              <ActionButton work={take}>Take it</ActionButton>
            )}
          </li>
        )
      })}
    </ul>
  )
}
