import { useState } from 'react'

const KEY = 'register.tx'

/** The transaction that was sent, kept over a reload: a payment that is forgotten would be paid again. */
export function useStoredTx() {
  const [tx, setTx] = useState(() => localStorage.getItem(KEY))
  const store = (sent: string | null) => {
    if (sent) localStorage.setItem(KEY, sent)
    else localStorage.removeItem(KEY)
    setTx(sent)
  }
  return [tx, store] as const
}
