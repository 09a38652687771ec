/**
 * Preload (`node --import`) that sets the clock of its process ahead by CLOCK_AHEAD_MS: whatever asks for the date or
 * the time, in the process's own code or a library's, gets a later one. Timers and performance.now() are as they were.
 * Where CLOCK_SIGNAL names a signal, the clock is right at first, and each such signal sets it ahead or right again.
 */
const aheadMs = Number(process.env.CLOCK_AHEAD_MS)
const signal = process.env.CLOCK_SIGNAL
const RealDate = Date
let isAhead = signal === undefined
const now = () => RealDate.now() + (isAhead ? aheadMs : 0)

if (signal !== undefined)
  process.on(signal, () => {
    isAhead = !isAhead
  })

globalThis.Date = new Proxy(RealDate, {
  apply: () => new RealDate(now()).toString(),
  construct: (target, args, newTarget) =>
    Reflect.construct(target, args.length === 0 ? [now()] : args, newTarget),
  get: (target, key) => (key === 'now' ? now : Reflect.get(target, key)),
})
