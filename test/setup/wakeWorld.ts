import { inject } from 'vitest'
import { signalAll } from './signals.js'

// a running process ignores SIGCONT, see globalSetup.ts
signalAll(inject('pids'), 'SIGCONT')
