import type { ChainInfo, EvmQuote, SolanaQuote } from './api.js'
import { amountText, chainText, payableChains } from './chains.js'
import { attempt, byId, confirmed, form, h, redraw, say } from './dom.js'
import { createFollower } from './follow.js'
import { CLUSTER_NAME_RULES, NAME_MAX_CHARS } from './names.js'
import { api, ownEntry, signedInAccount, state } from './state.js'

/** Section that registers a name and follows its transaction. */

const registrations = createFollower('registrations')

/** Draws the form; followed registrations stay. */
export function renderRegister(reload: () => Promise<void>): void {
  const section = byId('register')
  section.hidden = state.session === null
  if (state.session === null) return
  const chains = payableChains()
  const names = h('input', {
    ...{ ...CLUSTER_NAME_RULES, name: 'name', 'data-key': 'name', 'aria-describedby': 'name-hint' },
  })
  redraw(
    section,
    h('h2', {}, 'Register a name'),
    chains.length === 0
      ? h('p', { class: 'empty' }, 'No chain of this network takes registrations from your wallet.')
      : form(
          { class: 'add' },
          (data, element) =>
            register(String(data.get('name')), chains[Number(data.get('chain'))]!, () => element.reset(), reload),
          h(
            'label',
            {},
            h('span', {}, 'Name'),
            names,
            h('small', { id: 'name-hint' }, `1 to ${NAME_MAX_CHARS} of a-z, 0-9, _ and -`),
          ),
          h(
            'label',
            {},
            h('span', {}, 'Pay on'),
            h(
              'select',
              { name: 'chain', 'data-key': 'chain' },
              ...chains.map((chain, i) => h('option', { value: String(i) }, chainText(chain))),
            ),
          ),
          h('button', { 'data-key': 'register' }, 'Register'),
        ),
    registrations.list(),
  )
}

async function register(
  name: string,
  chain: ChainInfo,
  onSent: () => void,
  reload: () => Promise<void>,
): Promise<void> {
  await attempt(async () => {
    const [check] = await api.send<{ isAvailable: boolean; reason?: string }[]>('POST', '/v1/names/register/check', [
      name,
    ])
    if (!check?.isAvailable)
      throw new Error(check?.reason === 'pending' ? `A bid for ${name} is under way.` : `${name} is taken.`)
    if (ownEntry()?.isPrivate && !(await confirmed('Your wallet becomes public', REVEALS, 'Register all the same')))
      return
    const tx = chain.network === 'solana' ? await paySolana(name) : await payEvm(name, chain)
    if (!tx) return
    onSent()
    registrations.follow(`${name}/`, tx, reload)
  })
}

const REVEALS =
  'Registering on chain names the payer in public. Your wallet is private in its cluster now: its entry becomes public with this registration, which can not be taken back.'

async function payEvm(name: string, chain: ChainInfo): Promise<string | null> {
  const account = await signedInAccount()
  if (account.type !== 'evm' || chain.chainId === null) throw new Error('This chain takes no payment from your wallet.')
  const body = { network: chain.network, sender: account.address, names: [{ name }] }
  const { transactionData, bridgeFee } = await api.send<EvmQuote>('POST', '/v1/names/register/evm', body)
  const { symbol, decimals } = chain.gasToken
  if (!(await confirmed(`Register ${name}?`, priceText(transactionData.value, bridgeFee, symbol, decimals), 'Pay')))
    return null
  say('Waiting for your wallet…')
  return account.send({ chainId: chain.chainId, ...transactionData })
}

async function paySolana(name: string): Promise<string | null> {
  const account = await signedInAccount()
  if (account.type !== 'solana') throw new Error('This chain takes no payment from your wallet.')
  const body = { network: 'solana', sender: account.address, names: [{ name }] }
  const quote = await api.send<SolanaQuote>('POST', '/v1/names/register/solana', body)
  const total = (BigInt(quote.registrationFee) + BigInt(quote.bridgeFee)).toString()
  if (!(await confirmed(`Register ${name}?`, priceText(total, quote.bridgeFee, 'SOL', 9), 'Pay'))) return null
  say('Waiting for your wallet…')
  const bytes = Uint8Array.from(atob(quote.transactionData[0]!), (letter) => letter.charCodeAt(0))
  return account.send(bytes, state.isTestnet)
}

const priceText = (value: string, bridgeFee: string, symbol: string, decimals: number): string =>
  `It costs ${amountText(value, decimals)} ${symbol} and gas` +
  (bridgeFee === '0' ? '.' : `, of which ${amountText(bridgeFee, decimals)} ${symbol} are for the bridge.`)
