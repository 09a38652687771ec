import { inject } from 'vitest'
import { signalAll } from './signals.js'

// see globalSetup.ts; a process that runs already goes on
signalAll(inject('pids'), 'SIGCONT')
