import { ClusterdError } from 'clusterd-client'
import { type FormEvent, useState } from 'react'
import { client } from './client'

/** What is behind a name or an address, in a sentence. */
async function lookUp(text: string): Promise<string> {
  const found = await client.addressOf(text)
  if (found) return `${text} is ${found.address}`
  const record = await client.nameOf(text)
  return record?.clusterName
    ? `${text} is ${record.clusterName}/${record.walletName}`
    : `Nobody is ${text}`
}

/** A look-up both ways. */
export function LookUp() {
  const [answer, setAnswer] = useState('')

  const submit = async (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault()
    const text = String(new FormData(event.currentTarget).get('text')).trim()
    setAnswer('…')
    setAnswer(
      await lookUp(text).catch((error: unknown) =>
        error instanceof ClusterdError ? error.message : String(error),
      ),
    )
  }
  return (
    <section aria-labelledby="lookup">
      <h2 id="lookup">Look up a name or an address</h2>
      <form onSubmit={submit}>
        <label>
          Name or address <input name="text" required autoComplete="off" spellCheck={false} />
        </label>
        <button type="submit">Look up</button>
      </form>
      <output>{answer}</output>
    </section>
  )
}
