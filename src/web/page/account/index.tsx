import type { ComponentType } from 'preact'
import type { AccountPageName } from '../../paths.js'
import { chainName } from '../lib/format.js'
import { readChains } from '../lib/money.js'
import { usePolled, useTitle } from '../lib/net.js'
import type { Chain, SigningWalletKind } from '../lib/types.js'
import { Card, CopyableAddress, Link } from '../parts/basics.js'
import { CommunityList } from '../parts/communities.js'
import { AirdropsPage } from './airdrops.js'
import { BundlePage } from './bundle.js'
import { CommunitiesPage } from './communities.js'
import { KeysPage } from './keys.js'
import { ActionButton, Form, type FormValues, QuestionDialog, Select, TextInput } from './pieces.js'
import { RefundsPage } from './refunds.js'
import { RegisterPage } from './register.js'
import { tabChannel } from './session.js'
import { AccountProvider, useAccount } from './state.js'
import { WALLET_KINDS, WALLET_KINDS_TEXT } from './wallets/kinds.js'

// this module has the pages of a signed-in wallet, and is loaded when one of them is opened

const PAGES_BY_NAME: Readonly<Record<AccountPageName, AccountPage>> = {
  register: { title: 'Register', Page: RegisterPage },
  account: {
    title: 'Bundle',
    Page: BundlePage,
    intro: 'Your wallets of all chains, in public or in private, and the names that they hold.',
  },
  communities: {
    title: 'Communities',
    Page: CommunitiesPage,
    intro: 'Get a name below a community, such as club/alice, or make your own name a community.',
  },
  airdrops: {
    title: 'Airdrops',
    Page: AirdropsPage,
    intro: 'See which communities give tokens to wallets of your bundle, and claim them.',
  },
  refunds: {
    title: 'Refunds',
    Page: RefundsPage,
    intro: 'Take back what you paid for a name that somebody else has.',
  },
  keys: {
    title: 'API keys',
    Page: KeysPage,
    intro: 'Make keys by which a site or a program may ask more often.',
  },
}
interface AccountPage {
  title: string
  Page: ComponentType
  /** What the page is for, shown before the visitor signs in. */
  intro?: string
}

export default function AccountPages({ part }: { part: AccountPageName }) {
  return (
    <AccountProvider>
      <AccountPageView page={part} />
      <QuestionDialog />
    </AccountProvider>
  )
}

function AccountPageView({ page }: { page: AccountPageName }) {
  const { session, isEnded, message, problem, signOut } = useAccount()
  const { title, Page, intro } = PAGES_BY_NAME[page]
  useTitle(title)
  return (
    <>
      <div class="account-head">
        <h1>{title}</h1>
        {session && (
          <div class="row" id="who">
            <CopyableAddress address={session.address} />
            <ActionButton class="plain" work={signOut}>
              Sign out
            </ActionButton>
          </div>
        )}
      </div>
      {session && (
        <nav class="tabs" aria-label="Your wallet">
          {Object.entries(PAGES_BY_NAME).map(([path, { title }]) => (
            <Link key={path} to={`/@${path}`} class={path === page ? 'current' : ''}>
              {title}
            </Link>
          ))}
        </nav>
      )}
      {!session && intro && <p class="soft">{intro}</p>}
      <p id="message" role="status" data-kind={message.text ? message.kind : 'error'}>
        {message.text || problem}
      </p>
      {!session && page === 'register' && <RegisterPage />}
      {page === 'communities' && <CommunityList />}
      {(!session || isEnded) && <SignInCard />}
      {session && <Page key={session.address} />}
    </>
  )
}

/** Pattern of wallets' icons that are shown. An icon is untrusted input, so only an image in a data URI is shown. */
const ICON_PATTERN = /^data:image\/(png|svg\+xml|webp|gif|jpeg)[;,]/

function SignInCard() {
  const { wallets, isEnded, signIn } = useAccount()
  return (
    <Card title={isEnded ? 'Sign in again' : 'Sign in'}>
      {isEnded && <p>What is typed below stays.</p>}
      <p>
        Choose the wallet that registers, pays and owns. It signs a message that proves that it is
        yours; nothing is sent to a chain and nothing is paid.
      </p>
      {wallets.length > 0 ? (
        <ul class="wallets">
          {wallets.map((wallet) => (
            <li key={wallet.id}>
              <ActionButton class="wallet plain" work={() => signIn(wallet)}>
                {ICON_PATTERN.test(wallet.icon) && (
                  <img src={wallet.icon} alt="" width="24" height="24" />
                )}
                <span>{wallet.name}</span>
                <small>{WALLET_KINDS[wallet.type].name}</small>
              </ActionButton>
            </li>
          ))}
        </ul>
      ) : (
        <p class="empty">
          No wallet was found in this browser. Install one for {WALLET_KINDS_TEXT}, then reload. In
          the local world of <code>npm run dev</code> a test wallet is there automatically.
        </p>
      )}
      <p class="soft">
        {tabChannel
          ? 'New tabs of this site are signed in too. The key ends with the last tab, or when you sign out.'
          : 'Each tab signs in on its own, because this browser has no safe way to share the key.'}
      </p>
      <SignInElsewhereForm />
    </Card>
  )
}

/** The mainnet's EVM chains as options of a `select`, the hub first. A smart wallet has its contract on one of them. */
const mainnetChainOptions = (chains: readonly Chain[]) =>
  chains
    .filter(({ chainId }) => chainId !== null)
    .sort((a, b) => a.role.localeCompare(b.role))
    .map(({ chainId, network }) => [String(chainId), chainName(network)] as const)

/** Form that signs in with a wallet outside this browser. */
function SignInElsewhereForm() {
  const { signInElsewhere } = useAccount()
  const { data: chains = [] } = usePolled('', async () =>
    mainnetChainOptions(await readChains(false)),
  )
  const begin = (typed: FormValues) => {
    const type = typed('kind') as SigningWalletKind
    const address = typed('address')
    return signInElsewhere({
      type,
      // the service has EVM addresses in lower case
      address: address.startsWith('0x') ? address.toLowerCase() : address,
      chainId: type === 'evm' ? Number(typed('chain')) : undefined,
    })
  }
  return (
    <details>
      <summary>A wallet that signs elsewhere</summary>
      <Form label="A wallet that signs elsewhere" work={begin} submit="Get the message" isPlain>
        <TextInput label="Its address" name="address" maxLength={128} />
        <Select
          label="Its kind"
          name="kind"
          options={Object.entries(WALLET_KINDS).map(([kind, { name }]) => [kind, name])}
        />
        <Select label="Chain of a smart wallet" name="chain" options={chains} />
      </Form>
    </details>
  )
}
