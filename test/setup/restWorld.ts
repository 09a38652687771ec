import { signalSharedWorld } from './signals.js'

// tests of worlds of their own come last: the shared one would go on mining beside them, for a quarter of the machine
signalSharedWorld('SIGSTOP')
