import type { ChainInfo, Quote } from './api.js'
import { amountText, chainSelect, payableChains } from './chains.js'
import { attempt, byId, confirmed, field, form, h, redraw } from './dom.js'
import { createFollower } from './follow.js'
import { CLUSTER_NAME_RULES, NAME_MAX_CHARS } from '../lib/names.js'
import { api, ownEntry, payerOn, state } from './state.js'

/** Section that registers a name and follows its transaction. */

const registrations = createFollower('registrations')

/** Draws the form; followed registrations stay. */
export function renderRegister(): void {
  const section = byId('register')
  section.hidden = state.session === null
  if (state.session === null) return
  const chains = payableChains()
  const input = h('input', { ...CLUSTER_NAME_RULES, name: 'name', 'data-key': 'name', 'aria-describedby': 'name-hint' })
  redraw(
    section,
    h('h2', 'Register a name'),
    chains.length === 0
      ? h('p', { class: 'empty' }, 'No chain of this network takes registrations from your wallet.')
      : form(
          { class: 'add' },
          (data, element) =>
            register(String(data.get('name')), chains[Number(data.get('chain'))]!, () => element.reset()),
          field('Name', input, h('small', { id: 'name-hint' }, `1 to ${NAME_MAX_CHARS} of a-z, 0-9, _ and -`)),
          field('Pay on', chainSelect('chain', chains)),
          h('button', { 'data-key': 'register' }, 'Register'),
        ),
    registrations.list(),
  )
}

async function register(name: string, chain: ChainInfo, onSent: () => void): Promise<void> {
  await attempt(async () => {
    const path = '/v1/names/register/check'
    const [check] = await api.send<{ isAvailable: boolean; reason?: string }[]>('POST', path, [name])
    if (!check?.isAvailable)
      throw new Error(check?.reason === 'pending' ? `A bid for ${name} is under way.` : `${name} is taken.`)
    if (ownEntry()?.isPrivate && !(await confirmed('Your wallet becomes public', REVEALS, 'Register all the same')))
      return
    const tx = await pay(name, chain)
    if (!tx) return
    onSent()
    registrations.follow(`${name}/`, tx)
  })
}

const REVEALS =
  'Registering on chain names the payer in public. Your wallet is private in its cluster now: its entry becomes public with this registration, which can not be taken back.'

async function pay(name: string, chain: ChainInfo): Promise<string | null> {
  const payer = await payerOn(chain)
  const body = { network: chain.network, sender: payer.address, names: [{ name }] }
  const quote = await api.send<Quote>('POST', `/v1/names/register/${payer.type}`, body)
  const { transactionData: data, registrationFee, bridgeFee } = quote
  const total = Array.isArray(data) ? (BigInt(registrationFee) + BigInt(bridgeFee)).toString() : data.value
  if (!(await confirmed(`Register ${name}?`, priceText(total, bridgeFee, chain), 'Pay'))) return null
  return payer.pay(Array.isArray(data) ? data[0]! : data)
}

const priceText = (value: string, bridgeFee: string, { gasToken: { symbol, decimals } }: ChainInfo): string =>
  `It costs ${amountText(value, decimals)} ${symbol} and gas` +
  (bridgeFee === '0' ? '.' : `, of which ${amountText(bridgeFee, decimals)} ${symbol} are for the bridge.`)
