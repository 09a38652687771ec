import { useState } from 'preact/hooks'
import { useLocation } from 'preact-iso/router'
import { chainName, findChain, shortText } from '../lib/format.js'
import { findCommunity } from '../lib/lists.js'
import { Money, priceText } from '../lib/money.js'
import { CLUSTER_NAME_INPUT_ATTRIBUTES, canonicalName } from '../lib/names.js'
import { usePolled } from '../lib/net.js'
import type { CommunityPayout, CommunityRegistration } from '../lib/types.js'
import { Card, LoadedContent, MoreButton } from '../parts/basics.js'
import {
  chainNameWithGasToken,
  FollowedPaymentList,
  Form,
  type FormValues,
  Select,
  TextInput,
} from './pieces.js'
import { RulesForm, readRuleDrafts } from './rules.js'
import {
  type AccountState,
  namesOfCluster,
  payableChains,
  useAccount,
  walletOfSession,
} from './state.js'
import { TransactionButton } from './transaction.js'

/** `/@communities`: registers names below communities, and makes names of the wallet's cluster communities. */
export function CommunitiesPage() {
  const account = useAccount()
  const { query } = useLocation()
  const [chosen, choose] = useState('')
  const names = namesOfCluster(account)
  const name = names.includes(chosen) ? chosen : names[0]
  const join = (typed: FormValues) =>
    joinCommunity(account, canonicalName(typed('community')), typed('member'))
  return (
    <>
      <Card title="Get a name in a community">
        <Form label="Register a name below a community" work={join} submit="Get the name">
          <TextInput
            label="Community"
            {...CLUSTER_NAME_INPUT_ATTRIBUTES}
            name="community"
            defaultValue={query.community}
          />
          <TextInput
            label="Your name there"
            hint="Free, or paid on the chain that the community names"
            {...CLUSTER_NAME_INPUT_ATTRIBUTES}
            name="member"
            defaultValue={query.community ? query.name : ''}
          />
        </Form>
      </Card>
      <FollowedPaymentList />
      {name && (
        <Card title="Your name as a community">
          <Select
            label="Name"
            name="own"
            options={names.map((one) => [one, `${one}/`])}
            chosen={name}
            onInput={(event) => choose(event.currentTarget.value)}
          />
          <MoreButton isMore={account.owned.isMore} onMore={account.moreNames} />
          <OwnCommunity key={name} name={name} />
        </Card>
      )}
    </>
  )
}

/**
 * Asks the visitor for consent before a private wallet gets a name below a community, which shows its address.
 * @returns true to go on; true without a question for any other wallet
 */
export const agreesToShowAddress = async (account: AccountState): Promise<boolean> =>
  !walletOfSession(account)?.isPrivate ||
  account.confirmed({
    title: 'Everybody sees your address',
    text: 'A name shows the address that holds it. Your wallet stays private in its bundle, but everybody sees that it has this name.',
    yes: 'Get it all the same',
    isGrave: true,
  })

async function joinCommunity(
  account: AccountState,
  community: string,
  member: string,
): Promise<unknown> {
  const rules = await findCommunity(community, account.send)
  if (!rules) throw new Error(`${community} is no community: no names are registered below it.`)
  if (!(await agreesToShowAddress(account))) return false
  const chains = payableChains(account)
  // without a price that the wallet can pay, the service's error explains why
  const offered = rules.prices.find(({ network }) => findChain(chains, network))
  const body = { name: member, ...(offered && { network: offered.network }) }
  const path = `/v1/names/community/${community}/register`
  const made = await account.send<CommunityRegistration>(path, { body })
  const { clusterName, transactionInfo: info, price } = made
  if (!info || !price) return account.reload(`${clusterName} is yours.`)
  const chain = findChain(chains, price.network)
  if (!chain) throw new Error('This community takes no payment from your wallet.')
  const cost = await priceText(price, account.isTestnet)
  return account.transact({
    title: clusterName,
    chain,
    transactions:
      info.type === 'evm'
        ? [info.approvalReset, info.approval, info.transaction]
        : [info.transaction.data],
    ask: {
      title: `Register ${clusterName}?`,
      text: `It costs ${cost} and gas, paid on ${chainNameWithGasToken(chain)} to ${shortText(price.recipient)}. What buys nothing can be taken back.`,
      yes: 'Pay',
    },
    said: `Sent. ${clusterName} is being registered.`,
  })
}

/**
 * A name of the wallet's cluster as a community: its rules and, once it is a community, a form that registers names for
 * other wallets, and its earnings.
 */
function OwnCommunity({ name }: { name: string }) {
  const account = useAccount()
  const state = usePolled(name, async () => {
    const rules = await findCommunity(name, account.send)
    return { rules, drafts: rules ? await readRuleDrafts(rules, account.isTestnet) : [] }
  })
  const give = async (typed: FormValues) => {
    const body = { name: typed('name'), walletAddress: typed('wallet') }
    const made = await account.send<CommunityRegistration>(`/v1/names/community/${name}/register`, {
      body,
    })
    await account.reload(`${made.clusterName} belongs to ${shortText(made.owner)} now.`)
  }
  return (
    <LoadedContent state={state}>
      {({ rules, drafts }) => (
        <div class="columns">
          <RulesForm name={name} rules={rules} drafts={drafts} onSet={state.refresh} />
          {rules && (
            <div>
              <Form
                label={`Register for somebody below ${name}`}
                work={give}
                submit="Give the name"
                isPlain
              >
                <TextInput
                  label="Name for somebody else"
                  {...CLUSTER_NAME_INPUT_ATTRIBUTES}
                  name="name"
                />
                <TextInput label="Wallet" name="wallet" />
              </Form>
              <PayoutList name={name} />
            </div>
          )}
        </div>
      )}
    </LoadedContent>
  )
}

/** Text that identifies a payout: its fields without the transaction, which differs at each read. */
const payoutKey = ({ transaction: _, ...payout }: CommunityPayout) => JSON.stringify(payout)

/** Earnings of a community that its recipients have not taken yet. */
function PayoutList({ name }: { name: string }) {
  const account = useAccount()
  const read = () => account.send<{ payouts: CommunityPayout[] }>(`/v1/communities/${name}/payouts`)
  const state = usePolled(name, read, { again: account.outcomes })
  return (
    <ul class="rows">
      {state.data?.payouts.map((payout) => {
        const { network, recipient, token, transaction } = payout
        const isGone = async () =>
          !(await read()).payouts.some((one) => payoutKey(one) === payoutKey(payout))
        return (
          <li key={`${network} ${recipient} ${token}`}>
            <span>
              Earned: <Money {...payout} /> on {chainName(network)}
            </span>
            {recipient === account.session?.address && transaction && (
              <TransactionButton
                offer={{
                  key: `${name} ${payoutKey(payout)}`,
                  chain: findChain(account.chains, network),
                  transactions: [transaction],
                  done: 'The money is yours.',
                  isGone,
                  refresh: state.refresh,
                }}
              >
                Take it
              </TransactionButton>
            )}
          </li>
        )
      })}
    </ul>
  )
}
