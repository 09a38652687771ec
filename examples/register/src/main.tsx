import { QueryClient, QueryClientProvider } from '@tanstack/react-query'
import { Client } from 'clusterd-client'
import { ClusterdProvider } from 'clusterd-client/react'
import { StrictMode } from 'react'
import { createRoot } from 'react-dom/client'
import { type Chain, http } from 'viem'
import { createConfig, WagmiProvider } from 'wagmi'
import { Register } from './Register'
import { testWalletsFor } from './testWallet'
import { Wallet } from './Wallet'
import './style.css'

/** The deployment: VITE_CLUSTERD_URL, else the local world of `npx clusterd dev`. */
const client = new Client({ url: import.meta.env.VITE_CLUSTERD_URL ?? 'http://127.0.0.1:3000' })
const root = createRoot(document.getElementById('root')!)

/** Sets wagmi up with the chains of the service, and shows the application. */
async function start() {
  const networks = await client.networks()
  const offered = networks.filter(({ canRegister, isTestnet }) => canRegister && !isTestnet)
  const chains: Chain[] = offered.flatMap(({ chain }) => chain ?? [])
  if (chains.length === 0) throw new Error('The service takes registrations on no EVM chain.')
  const config = createConfig({
    chains: chains as [Chain, ...Chain[]],
    transports: Object.fromEntries(chains.map(({ id }) => [id, http()])),
    connectors: testWalletsFor(chains),
  })
  root.render(
    <StrictMode>
      <WagmiProvider config={config}>
        <QueryClientProvider client={new QueryClient()}>
          <ClusterdProvider client={client}>
            <main>
              <h1>Register a name</h1>
              <Wallet />
              <Register networks={offered.filter(({ chain }) => chain)} />
            </main>
          </ClusterdProvider>
        </QueryClientProvider>
      </WagmiProvider>
    </StrictMode>,
  )
}

start().catch((error: Error) => {
  root.render(
    <main>
      <h1>Register a name</h1>
      <p role="alert">The application can not start. {error.message}</p>
    </main>,
  )
})
