import { ClusterdError, type QuoteRequest, type RegistrationNetwork } from 'clusterd-client'
import { useAddress, useRegistration } from 'clusterd-client/react'
import { type FormEvent, useState } from 'react'
import { formatUnits } from 'viem'
import { useConnection, useSendTransaction, useSwitchChain } from 'wagmi'
import { Progress } from './Progress'
import { useStoredTx } from './storedTx'

/** Asks for a name and a chain, shows the price, pays it, and shows what becomes of the payment. */
export function Register({ networks }: { networks: RegistrationNetwork[] }) {
  const { address, chainId } = useConnection()
  const switchChain = useSwitchChain()
  const sendTransaction = useSendTransaction()
  const [request, setRequest] = useState<QuoteRequest | null>(null)
  const [stored, storeTx] = useStoredTx()

  const chain = networks.find(({ network }) => network === request?.network)?.chain
  const { quote, register, tx, status } = useRegistration(request, {
    tx: stored,
    async send(quoted) {
      if (quoted.type !== 'evm' || !chain) throw new Error('This wallet pays on EVM chains only.')
      if (chainId !== chain.id) await switchChain.mutateAsync({ chainId: chain.id })
      const call = { ...quoted.transactionData, chainId: chain.id }
      const sent = await sendTransaction.mutateAsync(call)
      storeTx(sent)
      return sent
    },
  })

  const isTaken = quote.error instanceof ClusterdError && quote.error.code === 'names_unavailable'
  const name = request?.names[0]?.name
  const owner = useAddress(isTaken ? name : null)

  const submit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault()
    const form = new FormData(event.currentTarget)
    const wanted = String(form.get('name')).trim().toLowerCase()
    const network = String(form.get('network'))
    if (address) setRequest({ network, sender: address, names: [{ name: wanted }] })
  }
  const startAnew = () => {
    register.reset()
    storeTx(null)
    setRequest(null)
  }

  if (tx) return <Progress tx={tx} status={status} onDone={startAnew} />
  return (
    <section aria-label="Registration">
      <form onSubmit={submit} onChange={() => setRequest(null)}>
        <label>
          Name <input name="name" required autoComplete="off" spellCheck={false} />
        </label>
        <label>
          Pay on{' '}
          <select name="network">
            {networks.map(({ network, name, gasToken }) => (
              <option key={network} value={network}>
                {name} ({gasToken.symbol})
              </option>
            ))}
          </select>
        </label>
        <button type="submit" disabled={!address || quote.isFetching}>
          See the price
        </button>
      </form>
      {quote.isSuccess && request && (
        <div className="offer">
          <p>
            <strong>{name}</strong> costs {priceOf(quote.data)}.
          </p>
          <button type="button" disabled={register.isPending} onClick={() => register.mutate()}>
            {register.isPending ? 'Confirm in your wallet …' : 'Register it'}
          </button>
        </div>
      )}
      {isTaken && (
        <p role="alert">
          <strong>{name}</strong> is taken. {owner.data && <code>{owner.data.address}</code>}
        </p>
      )}
      {quote.error && !isTaken && <p role="alert">{quote.error.message}</p>}
      {register.error && <p role="alert">{register.error.message.split('\n', 1)}</p>}
    </section>
  )
}

interface Price {
  registrationFee: string
  bridgeFee: string
  gasToken: { symbol: string; decimals: number | string }
}

/** What the wallet pays: the bid, and its way to the hub. */
function priceOf({ registrationFee, bridgeFee, gasToken: { symbol, decimals } }: Price): string {
  const total = BigInt(registrationFee) + BigInt(bridgeFee)
  return `${formatUnits(total, Number(decimals))} ${symbol}`
}
