import { useState } from 'preact/hooks'
import { PAYER_ADDRESS_TYPE_NAMES } from '../../../registry/families.js'
import { NAME_RULES_HINT, WALLET_NAME_INPUT_ATTRIBUTES } from '../lib/names.js'
import type { GeneratedWallet, Wallet } from '../lib/types.js'
import { CopyableText } from '../parts/basics.js'
import { ActionButton, CheckBox, Form, type FormValues, Select, TextInput } from './pieces.js'
import { walletProofOf } from './proof.js'
import { useAccount } from './state.js'

/** Names of the kinds of wallets that the service generates. */
const GENERATED_KIND_NAMES: Record<GeneratedWallet['type'], string> = {
  evm: PAYER_ADDRESS_TYPE_NAMES.evm,
  solana: PAYER_ADDRESS_TYPE_NAMES.solana,
}

/** Forms that generate a wallet whose key is split into shares, and that recover the key of such a wallet. */
export function GeneratedWalletForms({ wallets }: { wallets: readonly Wallet[] }) {
  const account = useAccount()
  const [made, setMade] = useState<GeneratedWallet | null>(null)
  const make = async (typed: FormValues) => {
    const isPrivate = typed('private') !== ''
    const body = { type: typed('type'), name: typed('name'), isPrivate, recovery: true }
    setMade(await account.send<GeneratedWallet>('/v1/clusters/generate/wallet', { body }))
    await account.reload('The wallet is made: keep its shares now, they are not shown again.')
  }
  const confirm = async () => {
    await account.send('/v1/clusters/generate/wallet/confirm', { body: { address: made?.address } })
    setMade(null)
    await account.reload('It is marked as backed up.')
  }
  const isOpen =
    made && wallets.some(({ address, isBackedUp }) => address === made.address && !isBackedUp)
  return (
    <>
      <Form label="Generate a wallet" work={make} submit="Generate" isPlain>
        <Select label="Kind" name="type" options={Object.entries(GENERATED_KIND_NAMES)} />
        <TextInput
          label="Name of the new wallet"
          hint={NAME_RULES_HINT}
          {...WALLET_NAME_INPUT_ATTRIBUTES}
          name="name"
        />
        <CheckBox name="private" defaultChecked>
          Private: only members of the bundle see it. A public entry cannot be made private later.
        </CheckBox>
      </Form>
      {made && (
        <div class="secret">
          <p>Two of its three shares give its key. One is kept here; keep these in two places.</p>
          <p>
            Yours: <CopyableText text={made.share} isWhole />
          </p>
          {made.recoveryShare && (
            <p>
              For recovery: <CopyableText text={made.recoveryShare} isWhole />
            </p>
          )}
          {isOpen && <ActionButton work={confirm}>I have kept them</ActionButton>}
        </div>
      )}
      <RecoverKeyForm />
    </>
  )
}

/** Form that recovers a key from one of its shares. The signed-in wallet signs the request. */
function RecoverKeyForm() {
  const account = useAccount()
  const [key, setKey] = useState('')
  const recover = async (typed: FormValues) => {
    const address = typed('address')
    const proof = await walletProofOf(await account.account(), { recover: address })
    const body = { address, share: typed('share'), ...proof }
    const path = '/v1/clusters/generate/wallet/recover'
    const { privateKey } = await account.send<{ privateKey: string }>(path, { body })
    setKey(privateKey)
  }
  return (
    <details>
      <summary>Recover a key</summary>
      <Form label="Recover a key" work={recover} submit="Sign and recover" isPlain>
        <TextInput label="Address of the wallet" name="address" />
        <TextInput label="A share of its key" name="share" />
      </Form>
      {key && (
        <p class="secret">
          Its private key: <CopyableText text={key} isWhole />
        </p>
      )}
    </details>
  )
}
