import { useState } from 'preact/hooks'
import { NAME_RULES_TEXT, parseNewName } from '../../../registry/primitives/nameRule.js'
import { pathOfName } from '../../paths.js'
import { findChain, moneyText, quoteCostText } from '../lib/format.js'
import { CLUSTER_NAME_INPUT_ATTRIBUTES, canonicalName, ensNameOf } from '../lib/names.js'
import { type ApiState, useApi, usePolled } from '../lib/net.js'
import {
  registrationTimeText,
  useNameAvailabilityAndPrice,
  waitUntilTypingPauses,
} from '../lib/offer.js'
import type { Chain, Overview, Quote } from '../lib/types.js'
import { Card, CopyableText, Link } from '../parts/basics.js'
import { earlierPaymentWarning } from './followed.js'
import { chainNameWithGasToken, FollowedPaymentList, Form, Input, Select } from './pieces.js'
import { type Account, payableChains, useAccount, walletOfSession } from './state.js'

/** What is shown before the wallet signs: whether the name is free, and its price. */
interface Offer {
  name: string
  chain: Chain
  quote: Quote
}

const REVEALS = {
  title: 'Your wallet becomes public',
  text: 'The chain names the payer in public. Your wallet is private in its cluster now: its entry becomes public with this registration, for good.',
  yes: 'Register all the same',
  isGrave: true,
} as const

/** Reads the quote of a name. @throws Error with a sentence where the name can't be registered */
async function offerOf({ send, session }: Account, name: string, chain: Chain): Promise<Offer> {
  const [check] = await send<{ isAvailable: boolean; reason?: string }[]>(
    '/v1/names/register/check',
    { body: [name] },
  )
  if (!check?.isAvailable)
    throw new Error(
      check?.reason === 'pending' ? `A bid for ${name} is under way.` : `${name} is taken.`,
    )
  const body = { network: chain.network, sender: session?.address, names: [{ name }] }
  return { name, chain, quote: await send<Quote>(`/v1/names/register/${session?.type}`, { body }) }
}

function priceText({ chain, quote }: Offer): string {
  const { bridgeFee } = quote
  const bridge =
    bridgeFee === '0' ? '' : `, of which ${moneyText(bridgeFee, chain.gasToken)} are for the bridge`
  return `It costs ${quoteCostText(quote, chain)} and gas${bridge}.`
}

function NameInput() {
  const { wanted, setWanted } = useAccount()
  return (
    <Input
      label="Name"
      hint={NAME_RULES_TEXT}
      {...CLUSTER_NAME_INPUT_ATTRIBUTES}
      name="name"
      value={wanted}
      onInput={(event) => setWanted(event.currentTarget.value)}
    />
  )
}

/** Price and duration of a registration, shown before the visitor signs in. */
export function RegistrationTerms() {
  const typed = canonicalName(useAccount().wanted)
  const { data, error } = useNameAvailabilityAndPrice(parseNewName(typed))
  const free = data?.isFree ? `${typed}/ is free. ` : ''
  const text = data?.name === typed ? `${free}${data.text}` : ''
  return (
    <Card title="Register a name">
      <div class="form">
        <NameInput />
        <p class={`price ${error ? 'bad' : ''}`} aria-live="polite">
          {error?.message ?? text}
        </p>
      </div>
      <p class="soft">
        The name stands for all wallets that you add to it, on every chain, and has a page of its
        own. Sign in below with the wallet that pays.
      </p>
    </Card>
  )
}

/** Next steps after the newest registration. */
function Arrival() {
  const { followed, isTestnet, session } = useAccount()
  const arrived = followed.find(({ status }) => status?.status === 'finalized')
  const path = arrived && pathOfName(arrived.title)
  if (!path) return null
  const ens = ensNameOf(arrived.title, isTestnet)
  return (
    <Card title={`${arrived.title}/ is yours`}>
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

/** `/@register`: shows the price before anything is signed. */
export function RegisterPage() {
  const account = useAccount()
  const { wanted, setWanted } = account
  const [label, setLabel] = useState('')
  const chains = payableChains(account)
  const chain = findChain(chains, label) ?? chains[0]
  const typed = canonicalName(wanted)
  const isName = parseNewName(typed) !== null
  const offer = usePolled<Offer>(
    isName && chain
      ? `${chain.network} ${chain.isTestnet} ${typed} ${account.followed.length}`
      : null,
    async (signal) => {
      await waitUntilTypingPauses(signal)
      return offerOf(account, typed, chain!)
    },
  )
  const overview = useApi<Overview>('/v1/overview')
  const submit = async () => {
    const isDone = await register(account, typed, chain!)
    if (isDone) setWanted('')
    return isDone
  }
  return (
    <>
      <Card title="Register a name">
        {chains.length === 0 ? (
          <p class="empty">
            {account.chains.length === 0
              ? 'The chains of this network are not known yet.'
              : 'No chain of this network takes registrations from your wallet.'}
          </p>
        ) : (
          <Form label="Register a name" work={submit} submit="Register">
            <NameInput />
            <Select
              label="Pay on"
              name="chain"
              options={chains.map((one) => [one.network, chainNameWithGasToken(one)])}
              chosen={chain?.network}
              onChange={(event) => setLabel(event.currentTarget.value)}
            />
            <Price
              offer={offer}
              isName={isName}
              name={typed}
              time={chain ? registrationTimeText(chain, overview.data) : ''}
            />
          </Form>
        )}
      </Card>
      <Arrival />
      <FollowedPaymentList />
    </>
  )
}

function Price({ offer, isName, name, time }: PriceProps) {
  const { data } = offer
  const found = data?.name === name ? `${name}/ is free. ${priceText(data)} ${time}` : '…'
  return (
    <p class={`price ${offer.error ? 'bad' : ''}`} aria-live="polite">
      {isName ? (offer.error?.message ?? found) : ''}
    </p>
  )
}

interface PriceProps {
  offer: ApiState<Offer>
  isName: boolean
  name: string
  time: string
}

async function register(account: Account, name: string, chain: Chain): Promise<boolean> {
  const { confirmed } = account
  const offer = await offerOf(account, name, chain)
  if (walletOfSession(account)?.isPrivate && !(await confirmed(REVEALS))) return false
  const text = () =>
    `${priceText(offer)} Your wallet asks you to sign that payment on ${chainNameWithGasToken(chain)}.${earlierPaymentWarning(account, name)} The first valid bid wins; what a later one paid can be taken back.`
  if (!(await confirmed({ title: `Register ${name}?`, text, yes: 'Pay' }))) return false
  const data = offer.quote.transactionData
  await account.follow(name, account.pay(chain, Array.isArray(data) ? data[0]! : data))
  return true
}
