import { useState } from 'preact/hooks'
import { useLocation } from 'preact-iso/router'
import { NAME, NAME_RULE } from '../../../registry/primitives/nameRule.js'
import { costText, moneyOf } from '../lib/format.js'
import { CLUSTER_NAME_RULES, nameOf } from '../lib/names.js'
import { type Asked, useAsked } from '../lib/net.js'
import type { Chain, Quote } from '../lib/types.js'
import { Card } from '../parts/basics.js'
import { paidText } from './followed.js'
import { chainText, Field, FollowedList, Form, Input } from './pieces.js'
import { type Account, payable, useAccount } from './state.js'

/** Facts that are known before a signature: whether the name is free, and what it costs. */
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

/** Quotes a name. @throws Error with words where it can't be registered */
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
    bridgeFee === '0' ? '' : `, of which ${moneyOf(bridgeFee, chain.gasToken)} are for the bridge`
  return `It costs ${costText(quote, chain)} and gas${bridge}.`
}

/** `/@register`: the price stands there before anything is signed. */
export function Register() {
  const account = useAccount()
  const { query } = useLocation()
  const [name, setName] = useState(query.name ?? '')
  const [label, setLabel] = useState('')
  const chains = payable(account)
  const chain = chains.find(({ network }) => network === label) ?? chains[0]
  const typed = nameOf(name)
  const isName = NAME.test(typed)
  const offer = useAsked<Offer>(
    isName && chain
      ? `${chain.network} ${chain.isTestnet} ${typed} ${account.followed.length}`
      : null,
    async (signal) => {
      // a moment for the next letter
      await new Promise((resolve) => setTimeout(resolve, TYPING_MS))
      signal.throwIfAborted()
      return offerOf(account, typed, chain!)
    },
  )
  const submit = async () => {
    const isDone = await register(account, typed, chain!)
    if (isDone) setName('')
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
            <Input
              label="Name"
              hint={NAME_RULE}
              {...CLUSTER_NAME_RULES}
              name="name"
              value={name}
              onInput={(event) => setName(event.currentTarget.value)}
            />
            <Field label="Pay on">
              <select
                name="chain"
                value={chain?.network}
                onChange={(event) => setLabel(event.currentTarget.value)}
              >
                {chains.map((one) => (
                  <option key={one.network} value={one.network}>
                    {chainText(one)}
                  </option>
                ))}
              </select>
            </Field>
            <Price offer={offer} isName={isName} name={typed} />
          </Form>
        )}
      </Card>
      <FollowedList />
    </>
  )
}
const TYPING_MS = 300

function Price({ offer, isName, name }: { offer: Asked<Offer>; isName: boolean; name: string }) {
  const found = offer.data?.name === name ? `${name}/ is free. ${priceText(offer.data)}` : '…'
  return (
    <p class={`price ${offer.error ? 'bad' : ''}`} aria-live="polite">
      {isName ? (offer.error?.message ?? found) : ''}
    </p>
  )
}

async function register(account: Account, name: string, chain: Chain): Promise<boolean> {
  const { confirmed, cluster, session } = account
  const offer = await offerOf(account, name, chain)
  const own = cluster?.wallets.find(({ address }) => address === session?.address)
  if (own?.isPrivate && !(await confirmed(REVEALS))) return false
  const text = () =>
    `${priceText(offer)} Your wallet asks you to sign that payment on ${chainText(chain)}.${paidText(account, name)} The first valid bid wins; what a later one paid can be taken back.`
  if (!(await confirmed({ title: `Register ${name}?`, text, yes: 'Pay' }))) return false
  const data = offer.quote.transactionData
  await account.follow(name, account.pay(chain, Array.isArray(data) ? data[0]! : data))
  return true
}
