import { Client } from 'clusterd-client'

/** The deployment: VITE_CLUSTERD_URL, else the local world of `npm run dev`. */
export const client = new Client({
  url: import.meta.env.VITE_CLUSTERD_URL ?? 'http://127.0.0.1:3000',
})
