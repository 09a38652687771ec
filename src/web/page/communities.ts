import type { ChainInfo, Community, CommunityRegistration, Price } from './api.js'
import { amountOf, amountText, chainText, payableChains } from './chains.js'
import { attempt, byId, confirmed, form, h, redraw, say, short } from './dom.js'
import { createFollower } from './follow.js'
import { CLUSTER_NAME_RULES } from './names.js'
import { api, ownNames, signedInAccount, state } from './state.js'

/** Section that registers names below communities and sets a community's rules. */

const payments = createFollower('payments', {
  lost_bid: 'Somebody else was first. What you paid can be taken back.',
  invalid: 'This payment bought nothing. What you paid can be taken back while it is held.',
})

const nameField = (key: string, label: string, hint?: string): HTMLElement =>
  h(
    'label',
    {},
    h('span', {}, label),
    h('input', { ...CLUSTER_NAME_RULES, name: key, 'data-key': key }),
    hint && h('small', {}, hint),
  )

/** Draws the forms; followed payments stay. */
export function renderCommunities(reload: () => Promise<void>): void {
  const section = byId('communities')
  section.hidden = state.session === null
  if (state.session === null) return
  redraw(
    section,
    h('h2', {}, 'Names below communities'),
    form(
      { class: 'add', 'aria-label': 'Register a name below a community' },
      (data, element) => join(String(data.get('community')), String(data.get('member')), () => element.reset(), reload),
      nameField('community', 'Community'),
      nameField('member', 'Your name there', 'Free, or paid on the chain that the community names'),
      h('button', { 'data-key': 'join' }, 'Get it'),
    ),
    payments.list(),
    ...ownNames().map((name) => rulesOf(name, reload)),
  )
}

async function join(input: string, member: string, onDone: () => void, reload: () => Promise<void>): Promise<void> {
  await attempt(async () => {
    const community = input.replace(/\/$/, '').toLowerCase()
    const rules = await api.get<Community>(`/v1/communities/${encodeURIComponent(community)}`)
    const path = `/v1/names/community/${community}/register`
    const made = await api.send<CommunityRegistration>('POST', path, { name: member, ...payOn(rules) })
    if (made.transactionInfo && made.price) {
      const tx = await pay(made, made.price, made.transactionInfo)
      if (!tx) return
      onDone()
      return payments.follow(made.clusterName, tx, reload)
    }
    onDone()
    await reload()
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
  const account = await signedInAccount()
  if (!chain || account.type !== info.type) throw new Error('This community takes no payment from your wallet.')
  const text = `It costs ${priceText(price, chain)} and gas, paid on ${chainText(chain)} to ${short(price.recipient)}.`
  if (!(await confirmed(`Register ${clusterName}?`, text, 'Pay'))) return null
  say('Waiting for your wallet…')
  if (info.type === 'solana' && account.type === 'solana') {
    const bytes = Uint8Array.from(atob(info.transaction.data), (letter) => letter.charCodeAt(0))
    return account.send(bytes, state.isTestnet)
  }
  if (info.type !== 'evm' || account.type !== 'evm' || chain.chainId === null)
    throw new Error('This chain takes no payment from your wallet.')
  // wallets send in order, so the payment lands after its approval
  if (info.approval) await account.send({ chainId: chain.chainId, ...info.approval })
  return account.send({ chainId: chain.chainId, ...info.transaction })
}

const priceText = ({ token, amount }: Price, { gasToken }: ChainInfo): string =>
  token === 'native'
    ? `${amountText(amount, gasToken.decimals)} ${gasToken.symbol}`
    : `${amount} base units of the token ${short(token)}`

/** Form for the rules of a name that the wallet's cluster holds. */
function rulesOf(name: string, reload: () => Promise<void>): HTMLElement {
  const chains = payableChains()
  return h(
    'details',
    { 'data-key': `rules ${name}` },
    h('summary', {}, `Make ${name}/ a community, or change its rules`),
    form(
      { class: 'add', 'aria-label': `Rules of ${name}` },
      (data) => setRules(name, data, chains, reload),
      h(
        'label',
        {},
        h('span', {}, 'Who may register'),
        h(
          'select',
          { name: 'who', 'data-key': `who ${name}` },
          h('option', { value: 'free' }, 'Everybody, free'),
          chains.length > 0 && h('option', { value: 'paid' }, 'Everybody who pays'),
          h('option', { value: 'owners' }, 'Only wallets of my cluster, for others too'),
        ),
      ),
      h(
        'label',
        {},
        h('span', {}, 'Price'),
        h('input', { name: 'amount', 'data-key': `amount ${name}`, inputmode: 'decimal', placeholder: '0.001' }),
        h('small', {}, 'Where it is paid; it goes to your wallet'),
      ),
      h(
        'label',
        {},
        h('span', {}, 'Paid on'),
        h(
          'select',
          { name: 'chain', 'data-key': `chain ${name}` },
          ...chains.map((chain, i) => h('option', { value: String(i) }, chainText(chain))),
        ),
      ),
      h('button', { 'data-key': `set ${name}` }, 'Set the rules'),
    ),
    form(
      { class: 'add', 'aria-label': `Register for somebody below ${name}` },
      (data, element) => registerFor(name, data, element, reload),
      nameField(`guest ${name}`, 'Register for somebody: name'),
      h(
        'label',
        {},
        h('span', {}, 'Wallet'),
        h('input', {
          name: 'wallet',
          'data-key': `wallet ${name}`,
          required: true,
          autocomplete: 'off',
          spellcheck: 'false',
        }),
      ),
      h('button', { 'data-key': `give ${name}` }, 'Give it'),
    ),
  )
}

async function setRules(
  name: string,
  data: FormData,
  chains: readonly ChainInfo[],
  reload: () => Promise<void>,
): Promise<void> {
  await attempt(async () => {
    const who = data.get('who')
    const chain = chains[Number(data.get('chain'))]
    const rules = {
      ownersOnly: who === 'owners',
      prices:
        who === 'paid' && chain
          ? [
              {
                network: chain.network,
                token: 'native',
                amount: amountOf(String(data.get('amount')), chain.gasToken.decimals),
                recipient: state.session?.address,
              },
            ]
          : [],
    }
    const set = await api.send<Community>('PUT', `/v1/communities/${name}`, rules)
    await reload()
    const asked = set.prices[0] && chain ? `for ${priceText(set.prices[0], chain)}` : 'free'
    say(set.ownersOnly ? `Your cluster registers names below ${name}.` : `Names below ${name} are ${asked} now.`)
  })
}

async function registerFor(
  name: string,
  data: FormData,
  element: HTMLFormElement,
  reload: () => Promise<void>,
): Promise<void> {
  await attempt(async () => {
    const body = { name: data.get(`guest ${name}`), walletAddress: data.get('wallet') }
    const made = await api.send<CommunityRegistration>('POST', `/v1/names/community/${name}/register`, body)
    element.reset()
    await reload()
    say(`${made.clusterName} belongs to ${short(made.owner)} now.`)
  })
}
