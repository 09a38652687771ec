import { StrictMode } from 'react'
import { createRoot } from 'react-dom/client'
import { LookUp } from './LookUp'
import { Status } from './Status'
import './style.css'

createRoot(document.getElementById('root')!).render(
  <StrictMode>
    <main>
      <h1>clusterd, in React</h1>
      <LookUp />
      <Status />
    </main>
  </StrictMode>,
)
