import type { ChainInfo, Community, CommunityRegistration, Price } from './api.js'
import { amountOf, amountText, chainSelect, chainText, payableChains } from './chains.js'
import { attempt, byId, confirmed, field, form, h, redraw, say, short } from './dom.js'
import { createFollower } from './follow.js'
import { CLUSTER_NAME_RULES, TYPED } from '../lib/names.js'
import { api, ownNames, payerOn, state } from './state.js'

/** Section that registers names below communities and sets a community's rules. */

const payments = createFollower('payments', {
  lost_bid: 'Somebody else was first. What you paid can be taken back.',
  invalid: 'This payment bought nothing. What you paid can be taken back while it is held.',
})

const nameField = (key: string, label: string, hint?: HTMLElement): HTMLElement =>
  field(label, h('input', { ...CLUSTER_NAME_RULES, name: key, 'data-key': key }), hint)

/** Draws the forms; followed payments stay. */
export function renderCommunities(): void {
  const section = byId('communities')
  section.hidden = state.session === null
  if (state.session === null) return
  redraw(
    section,
    h('h2', 'Names below communities'),
    form(
      { class: 'add', 'aria-label': 'Register a name below a community' },
      (data, element) => join(String(data.get('community')), String(data.get('member')), () => element.reset()),
      nameField('community', 'Community'),
      nameField('member', 'Your name there', h('small', 'Free, or paid on the chain that the community names')),
      h('button', { 'data-key': 'join' }, 'Get it'),
    ),
    payments.list(),
    ...ownNames().map((name) => rulesOf(name)),
  )
}

async function join(input: string, member: string, onDone: () => void): Promise<void> {
  await attempt(async () => {
    const community = input.replace(/\/$/, '').toLowerCase()
    const rules = await api.get<Community>(`/v1/communities/${encodeURIComponent(community)}`)
    const path = `/v1/names/community/${community}/register`
    const made = await api.send<CommunityRegistration>('POST', path, { name: member, ...payOn(rules) })
    if (made.transactionInfo && made.price) {
      const tx = await pay(made, made.price, made.transactionInfo)
      if (!tx) return
      onDone()
      return payments.follow(made.clusterName, tx)
    }
    onDone()
    await state.reload()
    say(`${made.clusterName} is yours.`)
  })
}

/** First price that the wallet can pay; without one, the service explains why. */
function payOn({ prices }: Community): { network?: string } {
  const chains = payableChains()
  const price = prices.find(({ network }) => chains.some((chain) => chain.network === network))
  return price ? { network: price.network } : {}
}

async function pay(
  { clusterName }: CommunityRegistration,
  price: Price,
  info: NonNullable<CommunityRegistration['transactionInfo']>,
): Promise<string | null> {
  const chain = payableChains().find(({ network }) => network === price.network)
  const payer = chain && (await payerOn(chain))
  if (!chain || payer?.type !== info.type) throw new Error('This community takes no payment from your wallet.')
  const text = `It costs ${priceText(price, chain)} and gas, paid on ${chainText(chain)} to ${short(price.recipient)}.`
  if (!(await confirmed(`Register ${clusterName}?`, text, 'Pay'))) return null
  return info.type === 'evm'
    ? payer.pay(info.transaction, info.approvalReset, info.approval)
    : payer.pay(info.transaction.data)
}

const priceText = ({ token, amount }: Price, { gasToken }: ChainInfo): string =>
  token === 'native'
    ? `${amountText(amount, gasToken.decimals)} ${gasToken.symbol}`
    : `${amount} base units of the token ${short(token)}`

/** Form for the rules of a name that the wallet's cluster holds. */
function rulesOf(name: string): HTMLElement {
  const chains = payableChains()
  return h(
    'details',
    { 'data-key': `rules ${name}` },
    h('summary', `Make ${name}/ a community, or change its rules`),
    form(
      { class: 'add', 'aria-label': `Rules of ${name}` },
      (data) => setRules(name, data, chains),
      field(
        'Who may register',
        h(
          'select',
          { name: 'who', 'data-key': `who ${name}` },
          h('option', { value: 'free' }, 'Everybody, free'),
          chains.length > 0 && h('option', { value: 'paid' }, 'Everybody who pays'),
          h('option', { value: 'owners' }, 'Only wallets of my cluster, for others too'),
        ),
      ),
      field(
        'Price',
        h('input', { name: 'amount', 'data-key': `amount ${name}`, inputmode: 'decimal', placeholder: '0.001' }),
        h('small', 'Where it is paid; it goes to your wallet'),
      ),
      field('Paid on', chainSelect(`chain ${name}`, chains)),
      h('button', { 'data-key': `set ${name}` }, 'Set the rules'),
    ),
    form(
      { class: 'add', 'aria-label': `Register for somebody below ${name}` },
      (data, element) => registerFor(name, data, element),
      nameField(`guest ${name}`, 'Register for somebody: name'),
      field('Wallet', h('input', { name: 'wallet', 'data-key': `wallet ${name}`, ...TYPED })),
      h('button', { 'data-key': `give ${name}` }, 'Give it'),
    ),
  )
}

async function setRules(name: string, data: FormData, chains: readonly ChainInfo[]): Promise<void> {
  await attempt(async () => {
    const who = data.get('who')
    const chain = chains[Number(data.get('chain'))]
    const prices = who === 'paid' && chain ? [priceOf(String(data.get('amount')), chain)] : []
    const rules = { ownersOnly: who === 'owners', prices }
    const set = await api.send<Community>('PUT', `/v1/communities/${name}`, rules)
    await state.reload()
    const asked = set.prices[0] && chain ? `for ${priceText(set.prices[0], chain)}` : 'free'
    say(set.ownersOnly ? `Your cluster registers names below ${name}.` : `Names below ${name} are ${asked} now.`)
  })
}

async function registerFor(name: string, data: FormData, element: HTMLFormElement): Promise<void> {
  await attempt(async () => {
    const body = { name: data.get(`guest ${name}`), walletAddress: data.get('wallet') }
    const made = await api.send<CommunityRegistration>('POST', `/v1/names/community/${name}/register`, body)
    element.reset()
    await state.reload()
    say(`${made.clusterName} belongs to ${short(made.owner)} now.`)
  })
}

/** Price in the gas token of a chain, to be paid to the signed-in wallet. */
const priceOf = (units: string, { network, gasToken }: ChainInfo) => ({
  network,
  token: 'native',
  amount: amountOf(units, gasToken.decimals),
  recipient: state.session?.address,
})
