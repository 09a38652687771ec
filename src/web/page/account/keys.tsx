import { useState } from 'preact/hooks'
import { usePolled } from '../lib/net.js'
import type { ApiKey } from '../lib/types.js'
import { Card, CopyableText, LoadedContent } from '../parts/basics.js'
import { ActionButton, Form, type FormValues, TextInput } from './pieces.js'
import { useAccount } from './state.js'
import type { ConfirmationQuestion } from './talk.js'

/** `/@keys`: the wallet's API keys, and a button that ends all its sessions. */
export function KeysPage() {
  const account = useAccount()
  const [made, setMade] = useState<{ id: string; key: string } | null>(null)
  const keyList = usePolled(account.session!.token, () => account.send<ApiKey[]>('/v1/keys'))
  const changed = (said: string) => {
    keyList.refresh()
    account.say(said)
  }
  const make = async (typed: FormValues) => {
    const body = { name: typed('name') }
    setMade(await account.send<ApiKey & { key: string }>('/v1/keys', { body }))
    changed('The key is made: copy it now.')
  }
  return (
    <>
      <Card title="API keys">
        <p class="soft">A key lets a site or a program ask more often. It opens nothing.</p>
        {made && (
          <p class="secret">
            Copy it now, it is not shown again: <CopyableText text={made.key} isWhole />
          </p>
        )}
        <LoadedContent state={keyList} lines={1}>
          {(keys) => (
            <ul class="rows">
              {keys.map((key) => (
                <ApiKeyRow key={key.id} apiKey={key} onChange={changed} />
              ))}
            </ul>
          )}
        </LoadedContent>
        <Form label="Make an API key" work={make} submit="Make a key">
          <TextInput label="What it is for" name="name" maxLength={64} />
        </Form>
      </Card>
      <Card title="Devices">
        <p class="soft">
          If you may have lost a device on which this wallet is signed in, or signed where you
          should not have.
        </p>
        <ActionButton class="plain" work={() => account.signOut(true)}>
          Sign out everywhere
        </ActionButton>
      </Card>
    </>
  )
}

function ApiKeyRow({
  apiKey: { id, name, createdAt },
  onChange,
}: {
  apiKey: ApiKey
  onChange: (said: string) => void
}) {
  const account = useAccount()
  const path = `/v1/keys/${id}`
  const rename = async (typed: FormValues) => {
    await account.send(path, { method: 'PATCH', body: { name: typed('name') } })
    onChange('The key has its new name.')
  }
  const ask: ConfirmationQuestion = {
    title: `Revoke ${name}?`,
    text: 'What uses it is limited like everybody else then.',
    yes: 'Revoke',
    isGrave: true,
  }
  const revoke = async () => {
    await account.send(path, { method: 'DELETE' })
    onChange(`${name} is revoked.`)
  }
  return (
    <li>
      <strong>{name}</strong>
      <span class="soft">made {createdAt.slice(0, 10)}</span>
      <Form class="row" label={`Rename ${name}`} work={rename} submit="Rename" isPlain>
        <input name="name" required maxLength={64} aria-label="New name" placeholder="New name" />
      </Form>
      <ActionButton class="plain" work={revoke} ask={ask} label={`Revoke: ${name}`}>
        Revoke
      </ActionButton>
    </li>
  )
}
