import { useState } from 'preact/hooks'
import { NAME_RULES_TEXT } from '../../../registry/primitives/nameRule.js'
import { moneyText, shortText } from '../lib/format.js'
import { NO_AUTOCORRECT_INPUT_ATTRIBUTES, WALLET_NAME_INPUT_ATTRIBUTES } from '../lib/names.js'
import { useApi } from '../lib/net.js'
import type { Cluster, ReferredBids, Wallet } from '../lib/types.js'
import {
  Badge,
  Card,
  CopyableAddress,
  CopyableText,
  Link,
  NameList,
  VerifiedBadge,
} from '../parts/basics.js'
import { GeneratedWallets } from './generate.js'
import { ActionButton, CheckBox, Form, type FormValues, Input } from './pieces.js'
import { PrimaryNameCard } from './primary.js'
import {
  type Account,
  type ConfirmationQuestion,
  namesOfCluster,
  useAccount,
  walletOfSession,
} from './state.js'

const WALLETS = '/v1/clusters/wallets'

/** `/@account`: the wallet's cluster. */
export function BundlePage() {
  const account = useAccount()
  const { cluster, owned } = account
  if (!cluster) {
    const shown = cluster === null ? <NoCluster account={account} /> : <p class="empty">Loading…</p>
    return <Card title="Your bundle">{shown}</Card>
  }
  return (
    <>
      <Card title="Your bundle" aside={<CopyableText text={cluster.id} />}>
        <div class="own">
          <NameList
            names={owned.items}
            isMore={owned.isMore}
            onMore={() => account.attempt(account.moreNames)}
          />
        </div>
        <Wallets cluster={cluster} />
        <Referrals clusterId={cluster.id} />
      </Card>
      <div class="columns">
        <div>
          <Card title="Add a wallet">
            <Add />
          </Card>
          <Card title="Join another bundle">
            <Invitation />
          </Card>
        </div>
        <div>
          <PrimaryNameCard />
          <Card title="Generate a wallet">
            <GeneratedWallets wallets={cluster.wallets} />
          </Card>
        </div>
      </div>
    </>
  )
}

/** Names that others registered with the bundle as their referral. */
function Referrals({ clusterId }: { clusterId: string }) {
  const { data } = useApi<ReferredBids>(`/v1/names/referrals/cluster/${clusterId}`)
  if (!data || data.count === 0) return null
  const names = data.count === 1 ? 'name was' : 'names were'
  return (
    <p class="soft">
      {data.count} {names} registered with your bundle as referral, for{' '}
      {moneyText(data.totalWeiAmount)}.
    </p>
  )
}

function NoCluster({ account: { session, change } }: { account: Account }) {
  const text = `Your wallet ${session?.address} becomes its first entry. Everybody can see that entry, and it cannot be made private later.`
  const create = () => change('The cluster is created.', '/v1/clusters', { method: 'POST' })
  return (
    <>
      <p>
        Your wallet is verified in no cluster yet. Register a name, create a cluster, or confirm an
        invitation.
      </p>
      <p class="row">
        <Link to="/@register" class="button">
          Register a name
        </Link>
        <ActionButton
          class="plain"
          work={create}
          ask={{ title: 'Create a cluster?', text, yes: 'Create it' }}
        >
          Create a cluster
        </ActionButton>
      </p>
      <Invitation />
    </>
  )
}

function Wallets({ cluster: { wallets } }: { cluster: Cluster }) {
  const hidden = wallets.filter(({ isPrivate }) => isPrivate).length
  return (
    <table>
      <caption>{hidden > 0 ? `Wallets. ${hidden} private, for members only.` : 'Wallets'}</caption>
      <thead>
        <tr>
          <th scope="col">Name</th>
          <th scope="col">Address</th>
          <th scope="col">State</th>
          <th scope="col">Change</th>
        </tr>
      </thead>
      <tbody>
        {wallets.map((wallet) => (
          <Row key={wallet.address} wallet={wallet} />
        ))}
      </tbody>
    </table>
  )
}

function Row({ wallet: { address, name, isVerified, isPrivate, isBackedUp } }: { wallet: Wallet }) {
  const { session, change } = useAccount()
  const publish = () =>
    change(`${name} is public now.`, WALLETS, { body: [{ address, name, isPrivate: false }] })
  const remove = () => change(`${name} is removed.`, WALLETS, { method: 'DELETE', body: [address] })
  const toPublish: ConfirmationQuestion = {
    title: 'Make this wallet public?',
    text: `Everybody will see that ${address} belongs to your cluster. This cannot be taken back.`,
    yes: 'Make it public',
    isGrave: true,
  }
  const toRemove: ConfirmationQuestion = {
    title: 'Remove this wallet?',
    text: `${address} leaves your cluster.`,
    yes: 'Remove it',
    isGrave: true,
  }
  return (
    <tr class={isPrivate ? 'private' : ''}>
      <td>
        <Rename address={address} name={name} />
      </td>
      <td>
        <CopyableAddress address={address} />
        {address === session?.address && <em> you</em>}
      </td>
      <td>
        <VerifiedBadge isVerified={isVerified} />
        {isPrivate && <Badge kind="veil">private</Badge>}
        {isBackedUp && <Badge>backed up</Badge>}
      </td>
      <td>
        <div class="row">
          {isPrivate && (
            <ActionButton
              class="plain"
              work={publish}
              ask={toPublish}
              label={`Make public: ${name}`}
            >
              Make public
            </ActionButton>
          )}
          <ActionButton class="plain" work={remove} ask={toRemove} label={`Remove: ${name}`}>
            Remove
          </ActionButton>
        </div>
      </td>
    </tr>
  )
}

function Rename({ address, name }: Pick<Wallet, 'address' | 'name'>) {
  const { change } = useAccount()
  const [typed, setTyped] = useState(name)
  const rename = async () => {
    const body = [{ address, name: typed }]
    await change('Renamed.', `${WALLETS}/names`, { method: 'PUT', body })
    return false
  }
  return (
    <Form class="rename row" label={`Rename ${name}`} work={rename}>
      <input
        {...WALLET_NAME_INPUT_ATTRIBUTES}
        aria-label={`Name of ${shortText(address)}`}
        value={typed}
        onInput={(event) => setTyped(event.currentTarget.value)}
      />
      {typed !== name && (
        <button type="submit" class="plain">
          Save
        </button>
      )}
    </Form>
  )
}

function Add() {
  const { change } = useAccount()
  const add = (typed: FormValues) => {
    const isPrivate = typed('private') !== ''
    const body = [{ address: typed('address'), name: typed('name'), isPrivate }]
    const done = isPrivate ? 'Added; only members see it.' : 'Added; everybody sees it.'
    return change(done, WALLETS, { body })
  }
  return (
    <Form label="Add a wallet" work={add} submit="Add">
      <Input label="Address" {...NO_AUTOCORRECT_INPUT_ATTRIBUTES} name="address" maxLength={128} />
      <Input label="Name" hint={NAME_RULES_TEXT} {...WALLET_NAME_INPUT_ATTRIBUTES} name="name" />
      <CheckBox name="private" defaultChecked>
        Private: only members of the cluster see it. A public entry cannot be made private later.
      </CheckBox>
    </Form>
  )
}

function Invitation() {
  const account = useAccount()
  const verify = (typed: FormValues) => {
    const path = `/v1/clusters/verify/${encodeURIComponent(typed('id'))}`
    return account.change('Your wallet is verified there now.', path, { method: 'POST' })
  }
  const ask: ConfirmationQuestion = {
    title: 'Move to this cluster?',
    text: movingText(account),
    yes: 'Move there',
    isGrave: true,
  }
  return (
    <Form
      label="Join another bundle"
      work={verify}
      ask={ask}
      submit="Verify my wallet there"
      isPlain
    >
      <Input
        label="Id of the cluster"
        hint="Another cluster lists your wallet? Verify it there."
        {...NO_AUTOCORRECT_INPUT_ATTRIBUTES}
        name="id"
        pattern="0x[0-9a-fA-F]{64}"
        title="0x and 64 hex digits"
      />
    </Form>
  )
}

/** Maximum number of names that the warning about leaving a cluster lists. */
const NAMES_SHOWN = 10

/** Warning for a wallet that leaves its cluster by verifying in another one. */
function movingText(account: Account): string {
  const names = namesOfCluster(account)
  const own = walletOfSession(account)
  const isLast =
    own?.isVerified && account.cluster?.wallets.filter(({ isVerified }) => isVerified).length === 1
  if (own && isLast && names.length > 0)
    return `Your wallet leaves its cluster. It is the last verified one, so its names move along: ${names.slice(0, NAMES_SHOWN).join(', ')}${names.length > NAMES_SHOWN ? ' and others' : ''}.`
  return own
    ? 'Your wallet leaves the cluster that it is verified in now.'
    : 'Your wallet becomes a verified member there.'
}
