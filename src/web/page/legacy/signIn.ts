import { attempt, button, byId, focusHeading, h, say, short } from './dom.js'
import { api, setSession, state } from './state.js'
import type { BrowserWallet } from './wallets.js'

/** Section that offers the wallets, or shows the signed-in one. */
export function renderSignIn(): void {
  const { session } = state
  byId('who').replaceChildren(
    ...(session
      ? [
          h('span', { class: 'address', title: session.address }, short(session.address)),
          button('Sign out', signOut, { class: 'plain' }),
        ]
      : []),
  )
  const section = byId('sign-in')
  section.hidden = session !== null
  if (session) return
  const wallets = [...state.wallets.values()]
  section.replaceChildren(
    h('h2', 'Sign in'),
    h('p', 'Your wallet signs a message; nothing is sent to a chain and nothing is paid.'),
    wallets.length > 0
      ? h('ul', { class: 'wallets' }, ...wallets.map((wallet) => h('li', walletButton(wallet))))
      : h(
          'p',
          { class: 'empty' },
          'No wallet was found in this browser. Install one for Ethereum or Solana, then reload.',
        ),
  )
}

function walletButton(wallet: BrowserWallet): HTMLElement {
  const element = button('', () => signIn(wallet).then(() => {}), { class: 'wallet' })
  // an icon is untrusted input of the wallet: shown only as an image, and only from a data URI
  if (/^data:image\/(png|svg\+xml|webp|gif|jpeg)[;,]/.test(wallet.icon))
    element.append(h('img', { src: wallet.icon, alt: '', width: '24', height: '24' }))
  element.append(h('span', wallet.name), h('small', wallet.type === 'evm' ? 'Ethereum' : 'Solana'))
  return element
}

function signIn(wallet: BrowserWallet): Promise<boolean> {
  return attempt(async () => {
    say(`Waiting for ${wallet.name}…`)
    const account = await wallet.connect()
    const { message, signingDate } = await api.get<{ message: string; signingDate: string }>('/v1/auth/message')
    const signature = await account.sign(message)
    const { type, address } = account
    const proof = { signature, signingDate, type, wallet: address }
    const { token } = await exchange(proof, account.sign)
    state.account = account
    setSession({ token, type, address, walletId: wallet.id })
    say(`Signed in as ${short(address)}.`)
    await state.start()
    focusHeading(byId('cluster'))
  })
}

type Proof = Record<'signature' | 'signingDate' | 'type' | 'wallet', string>

/**
 * Exchanges a signature for a key. A smart wallet's signature counts only over a message bound to that wallet, so a
 * refused one is requested once more.
 */
async function exchange(proof: Proof, sign: (message: string) => Promise<string>): Promise<{ token: string }> {
  const post = (body: Proof) => api.send<{ token: string }>('POST', '/v1/auth/token', body)
  try {
    return await post(proof)
  } catch (error) {
    const isContract = proof.type === 'evm' && (error as { status?: number }).status === 401
    if (!isContract) throw error
    const { type, wallet } = proof
    const bound = await api.get<{ message: string; signingDate: string }>(
      `/v1/auth/message?${new URLSearchParams({ type, wallet })}`,
    )
    say('One more signature: this one names the wallet, as contracts need it.')
    return post({ ...proof, signingDate: bound.signingDate, signature: await sign(bound.message) })
  }
}

async function signOut(): Promise<void> {
  // the key is forgotten here even where the server can't revoke it now
  await attempt(async () => {
    await api.send('DELETE', '/v1/auth/token')
    say('Signed out.')
  })
  setSession(null)
  state.account = null
  await state.start()
  focusHeading(byId('sign-in'))
}
