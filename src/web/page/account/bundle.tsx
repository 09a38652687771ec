import { useState } from 'preact/hooks'
import { useLocation } from 'preact-iso/router'
import { isClusterId } from '../../../client/membership.js'
import { countText, shortText } from '../lib/format.js'
import { BidAmount } from '../lib/money.js'
import {
  canonicalName,
  NAME_RULES_HINT,
  nameText,
  WALLET_NAME_INPUT_ATTRIBUTES,
} from '../lib/names.js'
import { useApi } from '../lib/net.js'
import type { Cluster, ReferredBids, Wallet } from '../lib/types.js'
import {
  Badge,
  Card,
  CopyableAddress,
  CopyableText,
  Link,
  LoadedList,
  NameLabel,
  NameList,
  WalletBadges,
} from '../parts/basics.js'
import { GeneratedWalletForms } from './generate.js'
import {
  ActionButton,
  CheckBox,
  Form,
  type FormValues,
  REQUIRED_TEXT_INPUT_ATTRIBUTES,
  TextInput,
} from './pieces.js'
import { PrimaryNameCard } from './primary.js'
import { type AccountState, namesOfCluster, useAccount, walletOfSession } from './state.js'
import type { ConfirmationQuestion } from './talk.js'

const WALLETS_PATH = '/v1/clusters/wallets'

/** `/@account`: the wallet's cluster. */
export function BundlePage() {
  const account = useAccount()
  const { cluster, owned } = account
  const { query } = useLocation()
  if (cluster === undefined)
    return (
      <Card title="Your bundle">
        <p class="empty">{account.problem ?? 'Loading…'}</p>
      </Card>
    )
  const names = (
    <div class="own">
      <LoadedList state={{ data: owned }} more={account.moreNames} empty="No name yet.">
        {(names) => <NameList names={names} />}
      </LoadedList>
    </div>
  )
  if (cluster === null)
    return (
      <>
        <InvitationsCard />
        <Card title="Your bundle">
          <NoClusterHint account={account} />
          {owned.items.length > 0 && names}
          <JoinForm />
        </Card>
      </>
    )
  return (
    <>
      <InvitationsCard />
      {query.join === cluster.id && <VerifyWalletCard />}
      <Card title="Your bundle" aside={<CopyableText text={cluster.id} />}>
        {names}
        <WalletTable cluster={cluster} />
        <ReferralSummary clusterId={cluster.id} />
      </Card>
      <div class="columns">
        <div>
          <Card title="Add a wallet">
            <AddWalletForm />
          </Card>
          <Card title="Join another bundle">
            <JoinForm />
          </Card>
        </div>
        <div>
          <PrimaryNameCard />
          <Card title="Generate a wallet">
            <GeneratedWalletForms wallets={cluster.wallets} />
          </Card>
        </div>
      </div>
    </>
  )
}

/** Card that explains how to verify a wallet that the bundle lists. */
const VerifyWalletCard = () => (
  <Card title="Verify a wallet">
    <p>
      A wallet is verified by signing in with it. Sign out above and sign in with that wallet, or
      open this page where that wallet is, and press “Join”. A wallet that was generated here needs
      its recovered key for that. <CopyableText text={location.href} isWhole />
    </p>
  </Card>
)

/** Number and sum of the registrations that name the bundle as their referral. */
function ReferralSummary({ clusterId }: { clusterId: string }) {
  const { data } = useApi<ReferredBids>(`/v1/names/referrals/cluster/${clusterId}`)
  if (!data || data.count === 0) return null
  return (
    <p class="soft">
      {countText(data.count, 'registration')} with your bundle as referral, for{' '}
      <BidAmount amount={data.totalWeiAmount} />.
    </p>
  )
}

function NoClusterHint({ account: { session, change } }: { account: AccountState }) {
  const text = `Your wallet ${session?.address} becomes its first entry. Everybody can see that entry, and it cannot be made private later.`
  const create = () => change('The bundle is created.', '/v1/clusters', { method: 'POST' })
  return (
    <>
      <p>
        Your wallet is verified in no bundle yet. Register a name, create a bundle, or join one that
        lists your wallet.
      </p>
      <p class="row">
        <Link to="/@register" class="button">
          Register a name
        </Link>
        <ActionButton
          class="plain"
          work={create}
          ask={{ title: 'Create a bundle?', text, yes: 'Create it' }}
        >
          Create a bundle
        </ActionButton>
      </p>
    </>
  )
}

function WalletTable({ cluster: { id, wallets } }: { cluster: Cluster }) {
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
          <WalletRow key={wallet.address} wallet={wallet} clusterId={id} />
        ))}
      </tbody>
    </table>
  )
}

function WalletRow({ wallet, clusterId }: { wallet: Wallet; clusterId: string }) {
  const { address, name, isVerified, isPrivate, isBackedUp, evidence } = wallet
  const { session, change, signMembership } = useAccount()
  const isOwn = address === session?.address
  const publish = () =>
    change(`${name} is public now.`, WALLETS_PATH, { body: [{ address, name, isPrivate: false }] })
  const remove = () =>
    change(`${name} is removed.`, WALLETS_PATH, { method: 'DELETE', body: [address] })
  const toPublish: ConfirmationQuestion = {
    title: 'Make this wallet public?',
    text: `Everybody will see that ${address} belongs to your bundle. This cannot be taken back.`,
    yes: 'Make it public',
    isGrave: true,
  }
  const toRemove: ConfirmationQuestion = {
    title: 'Remove this wallet?',
    text: `${address} leaves your bundle.`,
    yes: 'Remove it',
    isGrave: true,
  }
  const toSign: ConfirmationQuestion = {
    title: 'Sign your membership?',
    text: signingText(isPrivate),
    yes: 'Sign it',
    isGrave: true,
  }
  return (
    <tr class={isPrivate ? 'private' : ''}>
      <td>
        <RenameWalletForm address={address} name={name} />
      </td>
      <td>
        <CopyableAddress address={address} />
        {isOwn && <em> you</em>}
      </td>
      <td>
        <WalletBadges isVerified={isVerified} evidence={evidence} />
        {isPrivate && <Badge kind="veil">private</Badge>}
        {isBackedUp && <Badge>backed up</Badge>}
      </td>
      <td>
        <div class="row">
          {!isVerified && !isBackedUp && (
            <Link to={`/@account?join=${clusterId}`} class="button plain" label={`Verify: ${name}`}>
              Verify
            </Link>
          )}
          {isOwn && isVerified && evidence !== 'signed' && (
            <ActionButton
              class="plain"
              work={() => signMembership(clusterId, isPrivate)}
              ask={toSign}
            >
              Sign your membership
            </ActionButton>
          )}
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

/** Text of the question before a wallet signs its membership. */
const signingText = (isPrivate: boolean): string =>
  `Your wallet signs that it belongs to this bundle, and ${isPrivate ? 'the signature is public once the wallet is' : 'everybody can see the signature'}. This cannot be taken back.`

function RenameWalletForm({ address, name }: Pick<Wallet, 'address' | 'name'>) {
  const { change } = useAccount()
  const [typed, setTyped] = useState(name)
  const rename = async () => {
    const body = [{ address, name: typed }]
    await change('Renamed.', `${WALLETS_PATH}/names`, { method: 'PUT', body })
    return false
  }
  return (
    <Form class="rename row" label={`Rename ${name}`} work={rename}>
      <input
        {...REQUIRED_TEXT_INPUT_ATTRIBUTES}
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

function AddWalletForm() {
  const { change } = useAccount()
  const add = (typed: FormValues) => {
    const isPrivate = typed('private') !== ''
    const body = [{ address: typed('address'), name: typed('name'), isPrivate }]
    const done = isPrivate ? 'Added; only members see it.' : 'Added; everybody sees it.'
    return change(done, WALLETS_PATH, { body })
  }
  return (
    <Form label="Add a wallet" work={add} submit="Add">
      <TextInput label="Address" name="address" maxLength={128} />
      <TextInput
        label="Name"
        hint={NAME_RULES_HINT}
        {...WALLET_NAME_INPUT_ATTRIBUTES}
        name="name"
      />
      <CheckBox name="private" defaultChecked>
        Private: only members of the bundle see it. A public entry cannot be made private later.
      </CheckBox>
    </Form>
  )
}

/** A bundle's id or name, as the pages show it. */
const bundleText = (text: string): string =>
  isClusterId(text) ? shortText(text) : nameText(canonicalName(text))

/**
 * True if the wallet would take its bundle's names along when it joins another bundle: it is the last verified wallet,
 * and the bundle has names.
 */
function movesNames({ cluster, session, owned }: AccountState): boolean {
  const verified = cluster?.wallets.filter(({ isVerified }) => isVerified) ?? []
  const isLast = verified.length === 1 && verified[0]!.address === session?.address
  return isLast && (owned.isMore || owned.items.some(({ name }) => !name.includes('/')))
}

/**
 * Joins a bundle that lists the wallet.
 * @param text the bundle's id, or one of its names
 * @param isPublic whether the wallet also signs its membership, for everybody to see
 * @param invited name or id of the bundle in the list of invitations, if the visitor joins from there. Strangers write
 * that list, so joining from it never moves names
 * @returns false where the visitor declines
 * @throws Error where names would move from the list of invitations; ClusterdError; the wallet's errors
 */
async function joinBundle(
  account: AccountState,
  text: string,
  isPublic: boolean,
  invited?: string,
): Promise<unknown> {
  const { send, confirmed } = account
  const isMoving = movesNames(account)
  if (invited && isMoving)
    throw new Error(
      'Joining moves your names. If that bundle is yours, type its name or id under “Join another bundle”.',
    )
  const shown = bundleText(invited ?? text)
  const subpath = isClusterId(text) ? `id/${text}` : `name/${canonicalName(text)}`
  const { id, wallets } = await send<Cluster>(`/v1/clusters/${subpath}`)
  const wallet = walletOfSession(account)
  const { address } = account.session!
  // a private wallet is not shown to a wallet that has not joined
  const isListed = wallets.some((one) => one.address === address && !one.isPrivate)
  const effect = wallet
    ? 'Your wallet leaves the bundle that it is verified in now.'
    : 'Your wallet becomes a verified member there.'
  const question = {
    title: `Join ${shown}?`,
    text: isPublic ? `${effect} ${signingText(!isListed)}` : effect,
    yes: 'Join',
    isGrave: true,
  } as const
  if (!(await confirmed(question))) return false
  const names = namesOfCluster(account)
  const moved: ConfirmationQuestion = {
    title: 'Move your names too?',
    text: `Your wallet is the last verified one of its bundle, so its names move along: ${names.map(nameText).join(', ')}${account.owned.isMore ? ' and others' : ''}.`,
    yes: 'Move them',
    isGrave: true,
  }
  if (isMoving && !(await confirmed(moved))) return false
  if (isPublic) return account.signMembership(id, !isListed)
  return account.change('Your wallet is verified there now.', `/v1/clusters/verify/${id}`, {
    method: 'POST',
  })
}

/**
 * Bundles that list the wallet in public, though it has not joined them. Bundles that list it privately are not shown.
 */
function InvitationsCard() {
  const account = useAccount()
  const { invitations, moreInvitations } = account
  if (invitations.length === 0) return null
  return (
    <Card title="Bundles that list your wallet">
      <p class="soft">Join one only if it is yours: your wallet then stands for it.</p>
      <ul class="rows">
        {invitations.map(({ clusterId, clusterName, walletName }) => (
          <li key={clusterId}>
            {clusterName ? <NameLabel name={clusterName} /> : <CopyableText text={clusterId} />}
            <span class="soft">as {walletName}</span>
            <ActionButton
              class="plain"
              work={() => joinBundle(account, clusterId, false, clusterName ?? clusterId)}
              label={`Join ${clusterName ?? clusterId}`}
            >
              Join
            </ActionButton>
          </li>
        ))}
      </ul>
      {moreInvitations && (
        <p class="soft">
          These are the newest. Join an older one by its name or id, under “Join another bundle”.
        </p>
      )}
    </Card>
  )
}

function JoinForm() {
  const account = useAccount()
  const { query } = useLocation()
  return (
    <Form
      label="Join another bundle"
      work={(typed) => joinBundle(account, typed('bundle'), typed('public') !== '')}
      submit="Join"
      isPlain
    >
      <TextInput
        label="Name or id of the bundle"
        hint="It has to list your wallet"
        name="bundle"
        maxLength={66}
        defaultValue={query.join === account.cluster?.id ? '' : query.join}
      />
      <CheckBox name="public">
        Sign it: everybody can check that your wallet says so, once its entry is public. A signature
        cannot be taken back.
      </CheckBox>
    </Form>
  )
}
