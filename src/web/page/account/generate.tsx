import { useState } from 'preact/hooks'
import { call } from '../lib/api.js'
import { NAME_RULES, TYPED } from '../lib/names.js'
import type { Wallet } from '../lib/types.js'
import { Mono } from '../parts/basics.js'
import { Action, Field, Form } from './pieces.js'
import { useAccount } from './state.js'

interface Made {
  address: string
  share: string
  recoveryShare?: string
}

/** Makes a wallet whose key is split, and gets keys of such wallets back. */
export function Generate({ wallets }: { wallets: readonly Wallet[] }) {
  const account = useAccount()
  const [made, setMade] = useState<Made | null>(null)
  const make = (data: FormData) =>
    account.attempt(async () => {
      const type = data.get('type')
      const body = { type, name: data.get('name'), isPrivate: data.get('private') !== null, recovery: true }
      setMade(await account.send<Made>('/v1/clusters/generate/wallet', { body }))
      await account.reload()
      account.say('The wallet is made: keep its shares now, they are not shown again.')
    })
  const isOpen = made && wallets.some(({ address, isBackedUp }) => address === made.address && !isBackedUp)
  return (
    <>
      <Form label="Make a new wallet" work={make}>
        <Field label="Kind">
          <select name="type">
            <option value="evm">Ethereum</option>
            <option value="solana">Solana</option>
          </select>
        </Field>
        <Field label="Name of the new wallet">
          <input {...NAME_RULES} name="name" />
        </Field>
        <label class="check">
          <input type="checkbox" name="private" />
          <span>Private: only members of the cluster see it.</span>
        </label>
        <button type="submit" class="plain">
          Make it
        </button>
      </Form>
      {made && (
        <div class="secret">
          <p>Two of its three shares give its key. One is kept here; keep these in two places.</p>
          <Shares made={made} />
          {isOpen && (
            <Action
              work={() =>
                account.attempt(async () => {
                  await account.send('/v1/clusters/generate/wallet/confirm', { body: { address: made.address } })
                  setMade(null)
                  await account.reload()
                  account.say('It is marked as backed up.')
                })
              }
            >
              I have kept them
            </Action>
          )}
        </div>
      )}
      <Recover />
    </>
  )
}

const Shares = ({ made: { share, recoveryShare } }: { made: Made }) => (
  <>
    <p>
      Yours: <Mono text={share} isWhole />
    </p>
    {recoveryShare && (
      <p>
        For recovery: <Mono text={recoveryShare} isWhole />
      </p>
    )}
  </>
)

/** Gets a key back by a share; the wallet signs that it asks. */
function Recover() {
  const account = useAccount()
  const [key, setKey] = useState('')
  const recover = (data: FormData) =>
    account.attempt(async () => {
      const { type, address: wallet, sign } = await account.account()
      const address = String(data.get('address')).trim()
      const query = new URLSearchParams({ type, wallet, recover: address })
      const path = `/v1/auth/message?${query}`
      const { message, signingDate } = await call<{ message: string; signingDate: string }>(path, { isTestnet: false })
      const body = { address, share: data.get('share'), signature: await sign(message), signingDate }
      const { privateKey } = await account.send<{ privateKey: string }>('/v1/clusters/generate/wallet/recover', {
        body,
      })
      setKey(privateKey)
    })
  return (
    <details>
      <summary>Get a key back</summary>
      <Form label="Get a key back" work={recover}>
        <Field label="Address of the wallet">
          <input {...TYPED} name="address" />
        </Field>
        <Field label="A share of its key">
          <input {...TYPED} name="share" />
        </Field>
        <button type="submit" class="plain">
          Sign and get the key
        </button>
      </Form>
      {key && (
        <p class="secret">
          Its private key: <Mono text={key} isWhole />
        </p>
      )}
    </details>
  )
}
