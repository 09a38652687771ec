import { useState } from 'preact/hooks'
import { parseNewName } from '../../../registry/primitives/nameRule.js'
import { pathOfName } from '../../paths.js'
import { findChain, moneyText, quoteCostText } from '../lib/format.js'
import {
  CLUSTER_NAME_INPUT_ATTRIBUTES,
  canonicalName,
  ensNameOf,
  NAME_RULES_HINT,
  nameText,
} from '../lib/names.js'
import { usePolled } from '../lib/net.js'
import {
  readNameAvailabilityAndPrice,
  registrationTimeText,
  waitUntilTypingPauses,
} from '../lib/offer.js'
import type { Chain, Quote } from '../lib/types.js'
import { Card, CopyableText, Link } from '../parts/basics.js'
import { decisivePayment } from './followed.js'
import {
  chainNameWithGasToken,
  FollowedPaymentList,
  Form,
  Select,
  statusText,
  TextInput,
} from './pieces.js'
import { type AccountState, payableChains, useAccount, walletOfSession } from './state.js'

/** The terms on which an available name can be registered. */
interface NameTerms {
  name: string
  text: string
  /** Absent where no wallet is signed in, or no chain is chosen. */
  quote?: Quote
}

const REVEAL_QUESTION = {
  title: 'Your wallet becomes public',
  text: 'The chain names the payer in public. Your wallet is private in its bundle now: its entry becomes public with this registration, for good.',
  yes: 'Register all the same',
  isGrave: true,
} as const

/**
 * Reads the terms of a name: on a chain for the signed-in wallet, else on the hub.
 * @throws Error with a sentence where the name can't be registered; ClusterdError
 */
async function readNameTerms(
  account: AccountState,
  name: string,
  chain: Chain | undefined,
): Promise<NameTerms> {
  const { send, session, isTestnet } = account
  const { isFree, text, overview } = await readNameAvailabilityAndPrice(name, { isTestnet })
  if (!isFree) throw new Error(text)
  if (!session || !chain) return { name, text }
  const body = { network: chain.network, sender: session.address, names: [{ name }] }
  const quote = await send<Quote>(`/v1/names/register/${session.type}`, { body })
  return {
    name,
    quote,
    text: `${quotePriceText(quote, chain)} ${registrationTimeText(chain, overview)}`,
  }
}

function quotePriceText(quote: Quote, chain: Chain): string {
  const { bridgeFee } = quote
  const bridge =
    bridgeFee === '0' ? '' : `, of which ${moneyText(bridgeFee, chain.gasToken)} are for the bridge`
  return `It costs ${quoteCostText(quote, chain)} and gas${bridge}.`
}

/** The newest name that was registered from this tab, and what to do next with it. Shows nothing where none was. */
function RegisteredNameCard() {
  const { sent, isTestnet, session } = useAccount()
  const title = sent.find(({ status }) => status?.status === 'finalized')?.title
  const path = title && pathOfName(title)
  if (!path) return null
  const ens = ensNameOf(title, isTestnet)
  return (
    <Card title={`${nameText(title)} is yours`}>
      {ens && (
        <p>
          In ENS it is <CopyableText text={ens} isWhole />
        </p>
      )}
      <p class="row">
        <Link to={path} class="button">
          See its page
        </Link>
        <Link to="/@account" class="button plain">
          Add a wallet
        </Link>
        {ens && session?.type === 'evm' && (
          <Link to="/@account" class="button plain">
            Make it your primary name
          </Link>
        )}
      </p>
    </Card>
  )
}

/**
 * `/@register`: shows the price before the visitor signs anything. For a name that was paid for from this tab, the
 * payment's status takes the place of the price.
 */
export function RegisterPage() {
  const account = useAccount()
  const { wanted, setWanted, session, sent, outcomes } = account
  const [label, setLabel] = useState('')
  const chains = payableChains(account)
  const chain = findChain(chains, label) ?? chains[0]
  const typed = canonicalName(wanted)
  const name = parseNewName(typed)
  const outcome = decisivePayment(sent, typed)
  const isOwn = outcome?.status?.status === 'finalized'
  const offer = usePolled<NameTerms>(
    name && !outcome && (chain || !session) ? `${chain?.network} ${name}` : null,
    async ({ signal }) => {
      await waitUntilTypingPauses(signal)
      return readNameTerms(account, typed, chain)
    },
    { again: outcomes },
  )
  const submit = async () => {
    if (!session) return false
    const isDone = await register(account, typed, chain!)
    if (isDone) setWanted('')
    return isDone
  }
  const isOdd = typed !== '' && !name
  const text = () => {
    if (isOdd) return `“${typed}” is no name: a name has ${NAME_RULES_HINT}.`
    if (outcome) return statusText(outcome)
    if (offer.error || !name) return offer.error?.message
    return offer.data?.name === name ? `${name}/ is free. ${offer.data.text}` : '…'
  }
  return (
    <>
      <Card title="Register a name">
        {session && chains.length === 0 ? (
          <p class="empty">
            {account.chains.length === 0
              ? 'The chains of this network are not known yet.'
              : 'No chain of this network takes registrations from your wallet.'}
          </p>
        ) : (
          <Form
            label="Register a name"
            work={submit}
            submit={session && !isOwn ? 'Register' : undefined}
          >
            <TextInput
              label="Name"
              hint={NAME_RULES_HINT}
              {...CLUSTER_NAME_INPUT_ATTRIBUTES}
              name="name"
              value={wanted}
              onInput={(event) => setWanted(event.currentTarget.value)}
            />
            {session && (
              <Select
                label="Pay on"
                name="chain"
                options={chains.map((one) => [one.network, chainNameWithGasToken(one)])}
                chosen={chain?.network}
                onInput={(event) => setLabel(event.currentTarget.value)}
              />
            )}
            <p class={`price ${isOdd || offer.error ? 'bad' : ''}`} aria-live="polite">
              {text()}
            </p>
          </Form>
        )}
        {!session && (
          <p class="soft">
            The name stands for all wallets that you add to it, on every chain, and has a page of
            its own. Sign in below with the wallet that pays.
          </p>
        )}
      </Card>
      <RegisteredNameCard />
      <FollowedPaymentList />
    </>
  )
}

async function register(account: AccountState, name: string, chain: Chain): Promise<boolean> {
  const quote = (await readNameTerms(account, name, chain)).quote!
  if (walletOfSession(account)?.isPrivate && !(await account.confirmed(REVEAL_QUESTION)))
    return false
  const data = quote.transactionData
  return account.transact({
    title: name,
    chain,
    transactions: [Array.isArray(data) ? data[0] : data],
    ask: {
      title: `Register ${name}?`,
      text: `${quotePriceText(quote, chain)} Your wallet asks you to sign that payment on ${chainNameWithGasToken(chain)}. The first valid bid wins; what a later one paid can be taken back.`,
      yes: 'Pay',
    },
    said: `Sent. ${name} is being registered.`,
  })
}
