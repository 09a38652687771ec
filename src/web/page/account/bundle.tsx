import { useState } from 'preact/hooks'
import { short } from '../lib/format.js'
import { NAME_RULES, TYPED } from '../lib/names.js'
import type { Cluster, Wallet } from '../lib/types.js'
import { Address, Badge, Card, Link, Mono, Names, Verified } from '../parts/basics.js'
import { Generate } from './generate.js'
import { Action, Check, Form, Input } from './pieces.js'
import { type Account, ownNames, useAccount } from './state.js'

const WALLETS = '/v1/clusters/wallets'

/** `/@account`: the wallet's cluster. */
export function Bundle() {
  const account = useAccount()
  const { cluster, owned } = account
  if (!cluster) {
    const shown = cluster === null ? <NoCluster account={account} /> : <p class="empty">Loading…</p>
    return <Card title="Your bundle">{shown}</Card>
  }
  return (
    <>
      <Card title="Your bundle" aside={<Mono text={cluster.id} />}>
        <div class="own">
          <Names
            names={owned.items}
            isMore={owned.isMore}
            onMore={() => account.attempt(account.moreNames)}
          />
        </div>
        <Wallets cluster={cluster} />
      </Card>
      <div class="columns">
        <Card title="Add a wallet">
          <Add />
        </Card>
        <div>
          <Card title="Generate a wallet">
            <Generate wallets={cluster.wallets} />
          </Card>
          <Card title="Join another bundle">
            <Invitation />
          </Card>
        </div>
      </div>
    </>
  )
}

function NoCluster({ account }: { account: Account }) {
  const create = async () => {
    const text = `Your wallet ${account.session?.address} becomes its first entry. Everybody can see that entry, and it cannot be made private later.`
    if (await account.confirmed({ title: 'Create a cluster?', text, yes: 'Create it' }))
      await change(account, 'The cluster is created.', '/v1/clusters', { method: 'POST' })
  }
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
        <Action class="plain" work={create}>
          Create a cluster
        </Action>
      </p>
      <Invitation />
    </>
  )
}

/** Makes a change, reads the account again and says so. */
async function change(
  { send, reload }: Account,
  done: string,
  ...asked: Parameters<Account['send']>
): Promise<void> {
  await send(...asked)
  await reload(done)
}

function Wallets({ cluster: { wallets } }: { cluster: Cluster }) {
  const hidden = wallets.filter(({ isPrivate }) => isPrivate).length
  return (
    <table>
      <caption>
        {hidden > 0 ? `Wallets. ${hidden} private: only members see them.` : 'Wallets'}
      </caption>
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
  const account = useAccount()
  const publish = async () => {
    const text = `Everybody will see that ${address} belongs to your cluster. This cannot be taken back.`
    if (
      !(await account.confirmed({
        title: 'Make this wallet public?',
        text,
        yes: 'Make it public',
        isGrave: true,
      }))
    )
      return
    const body = [{ address, name, isPrivate: false }]
    await change(account, `${name} is public now.`, WALLETS, { body })
  }
  const remove = async () => {
    const text = `${address} leaves your cluster.`
    if (
      !(await account.confirmed({
        title: 'Remove this wallet?',
        text,
        yes: 'Remove it',
        isGrave: true,
      }))
    )
      return
    await change(account, `${name} is removed.`, WALLETS, { method: 'DELETE', body: [address] })
  }
  return (
    <tr class={isPrivate ? 'private' : ''}>
      <td>
        <Rename address={address} name={name} />
      </td>
      <td>
        <Address address={address} />
        {address === account.session?.address && <em> you</em>}
      </td>
      <td>
        <Verified isVerified={isVerified} />
        {isPrivate && <Badge kind="veil">private</Badge>}
        {isBackedUp && <Badge>backed up</Badge>}
      </td>
      <td>
        <div class="row">
          {isPrivate && (
            <Action class="plain" work={publish} label={`Make public: ${name}`}>
              Make public
            </Action>
          )}
          <Action class="plain" work={remove} label={`Remove: ${name}`}>
            Remove
          </Action>
        </div>
      </td>
    </tr>
  )
}

function Rename({ address, name }: Pick<Wallet, 'address' | 'name'>) {
  const account = useAccount()
  const [typed, setTyped] = useState(name)
  const rename = async () => {
    await change(account, 'Renamed.', `${WALLETS}/names`, {
      method: 'PUT',
      body: [{ address, name: typed }],
    })
    return false
  }
  return (
    <Form class="rename row" label={`Rename ${name}`} work={rename}>
      <input
        {...NAME_RULES}
        aria-label={`Name of ${short(address)}`}
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
  const account = useAccount()
  const add = (data: FormData) => {
    const isPrivate = data.get('private') !== null
    const body = [
      { address: String(data.get('address')).trim(), name: String(data.get('name')), isPrivate },
    ]
    const done = isPrivate ? 'Added; only members see it.' : 'Added; everybody sees it.'
    return change(account, done, WALLETS, { body })
  }
  return (
    <Form label="Add a wallet" work={add} submit="Add">
      <Input label="Address" {...TYPED} name="address" maxLength={128} />
      <Input label="Name" {...NAME_RULES} name="name" />
      <Check name="private" defaultChecked>
        Private: only members of the cluster see it. A public entry cannot be made private later.
      </Check>
    </Form>
  )
}

function Invitation() {
  const account = useAccount()
  const verify = async (data: FormData) => {
    const text = movingText(account)
    if (
      !(await account.confirmed({
        title: 'Move to this cluster?',
        text,
        yes: 'Move there',
        isGrave: true,
      }))
    )
      return false
    const path = `/v1/clusters/verify/${encodeURIComponent(String(data.get('id')).trim())}`
    return change(account, 'Your wallet is verified there now.', path, { method: 'POST' })
  }
  return (
    <Form label="Join another bundle" work={verify} submit="Verify my wallet there" isPlain>
      <Input
        label="Id of the cluster"
        hint="Another cluster lists your wallet? Verify it there."
        {...TYPED}
        name="id"
        pattern="0x[0-9a-fA-F]{64}"
      />
    </Form>
  )
}

/** Names that are told of many. */
const TOLD = 10

/** Warning for a wallet that leaves its cluster by verifying in another one. */
function movingText(account: Account): string {
  const { cluster, session } = account
  const names = ownNames(account)
  const own = cluster?.wallets.find(({ address }) => address === session?.address)
  const isLast =
    own?.isVerified && cluster?.wallets.filter(({ isVerified }) => isVerified).length === 1
  if (own && isLast && names.length > 0)
    return `Your wallet leaves its cluster. It is the last verified one, so its names move along: ${names.slice(0, TOLD).join(', ')}${names.length > TOLD ? ' and others' : ''}.`
  return own
    ? 'Your wallet leaves the cluster that it is verified in now.'
    : 'Your wallet becomes a verified member there.'
}
