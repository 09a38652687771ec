import { useName } from 'clusterd-client/react'
import { useConnect, useConnection, useConnectors, useDisconnect } from 'wagmi'

/** Connects one of the browser's wallets (EIP-6963), and shows the name of its account. */
export function Wallet() {
  const { address } = useConnection()
  const connectors = useConnectors()
  const connect = useConnect()
  const disconnect = useDisconnect()
  const { data: name } = useName(address)

  if (address)
    return (
      <section aria-label="Wallet" className="wallet">
        <p>
          <strong>{name ? `${name.clusterName}/${name.walletName}` : 'No name yet'}</strong>
          <code>{address}</code>
        </p>
        <button type="button" onClick={() => disconnect.mutate()}>
          Disconnect
        </button>
      </section>
    )
  return (
    <section aria-label="Wallet">
      <p>
        {connectors.length > 0
          ? 'Connect the wallet that pays. The name will belong to its account.'
          : 'There is no wallet in this browser.'}
      </p>
      <div className="choices">
        {connectors.map((connector) => (
          <button
            type="button"
            key={connector.uid}
            disabled={connect.isPending}
            onClick={() => connect.mutate({ connector })}
          >
            {connector.name}
          </button>
        ))}
      </div>
      {connect.error && <p role="alert">{connect.error.message}</p>}
    </section>
  )
}
